import { looksLikeKey } from '../redact-keys.ts';

/** Whether a target holds an API key: as the documented parameter, or anywhere else by its looks. */
export function hasKeyInUrl(target: string): boolean {
  return looksLikeKey(target) || /[?&]api_key=[^&]/.test(target);
}
