/** Path of the control panel and the admin API. The service has no path below it. */
export const ADMIN_ROOT = '/__fxrates';

export function isAdminPath(path: string): boolean {
  return path === ADMIN_ROOT || path.startsWith(`${ADMIN_ROOT}/`);
}
