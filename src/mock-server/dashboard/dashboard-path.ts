/** Whether a path belongs to the emulated dashboard. */
export function isDashboardPath(path: string): boolean {
  return /^\/dashboard(?:\/|$)/.test(path);
}
