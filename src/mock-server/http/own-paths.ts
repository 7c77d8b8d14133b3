/** Path of the control panel and the admin API. The service has no path below it. */
export const ADMIN_ROOT = '/__fxrates';

export function isAdminPath(path: string): boolean {
  return path === ADMIN_ROOT || path.startsWith(`${ADMIN_ROOT}/`);
}

/** Is in every response of the admin API, so that its client recognizes a mock. */
export const MOCK_HEADER = 'fxrates-mock';

/** Headers of every page of the mock: not stored, not framed, and without a guess of the type. */
export const PAGE_HEADERS = {
  [MOCK_HEADER]: 'admin',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Not `no-referrer`, because browsers would send forms with `Origin: null`.
  'referrer-policy': 'same-origin',
} as const;
