import type { ApiKey } from './keys/api-key.ts';
import type { AuthForm } from './options.ts';

/** URL and headers of a request with the key in the one form chosen (SERVICE.md, Authentication). */
export function authenticate(
  url: string,
  { key, form }: { readonly key: ApiKey; readonly form: AuthForm },
): { readonly url: string; readonly headers: Record<string, string> } {
  const secret = key.reveal();
  if (form === 'bearer') return { url, headers: { authorization: `Bearer ${secret}` } };
  if (form === 'header') return { url, headers: { authorization: secret } };
  const separator = url.includes('?') ? '&' : '?';
  return { url: `${url}${separator}api_key=${encodeURIComponent(secret)}`, headers: {} };
}
