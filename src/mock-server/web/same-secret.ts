import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are equal; takes the same time wherever they differ, and whatever their lengths. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
