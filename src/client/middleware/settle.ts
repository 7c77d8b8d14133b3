import type { ApiResponse } from '../request.ts';

/** A response, or the error that came instead. */
export type Outcome = ApiResponse | { readonly error: unknown };

/** Waits for either, so that a loop can look at both without nesting. */
export async function settle(response: Promise<ApiResponse>): Promise<Outcome> {
  return response.catch((error: unknown) => ({ error }));
}
