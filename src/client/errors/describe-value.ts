/** A wrong value as an error message shows it: short, and with its type. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `a string of ${value.length} characters` : `'${value}'`;
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  if (typeof value === 'function') return 'a function';
  return `${String(value)} (${typeof value})`;
}
