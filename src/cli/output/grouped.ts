/** `1000` as `1,000`; on the digits themselves, so that no number is too long. Anything but digits stays. */
export function grouped(count: string | number): string {
  const digits = String(count);
  return /^\d+$/.test(digits) ? digits.replace(/\B(?=(\d{3})+$)/g, ',') : digits;
}
