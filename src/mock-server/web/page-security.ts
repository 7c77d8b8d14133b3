import { createHash, timingSafeEqual } from 'node:crypto';

/** Headers of every page of the mock: not stored, not framed, and without a guess of the type. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Not `no-referrer`, because browsers would send forms with `Origin: null`.
  'referrer-policy': 'same-origin',
} as const;

/** Whether two secrets are equal. The time does not depend on their lengths or on where they differ. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
