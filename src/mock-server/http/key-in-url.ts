/** Whether a target holds an API key: as the documented parameter, or anywhere else by its looks. */
export function hasKeyInUrl(target: string): boolean {
  return target.includes('_live_') || /[?&]api_key=[^&]/.test(target);
}
