import type { ApiResponse } from '../request.ts';

/** A response, or the error that came instead, so that a loop can look at both without nesting. */
export async function settle(response: Promise<ApiResponse>): Promise<ApiResponse | { readonly error: unknown }> {
  return response.catch((error: unknown) => ({ error }));
}
