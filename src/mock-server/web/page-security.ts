import { createHash, timingSafeEqual } from 'node:crypto';

/** For every page of the mock: not stored, not framed, and of the type that it says. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Not `no-referrer`: then browsers would send forms with `Origin: null`.
  'referrer-policy': 'same-origin',
} as const;

/** Whether two secrets are equal; takes the same time wherever they differ, and whatever their lengths. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
