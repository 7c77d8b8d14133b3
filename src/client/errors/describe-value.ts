/** Describes a wrong value in an error message: short, and with its type. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `a string of ${value.length} characters` : `'${value}'`;
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return describeObject(value);
  if (typeof value === 'function') return 'a function';
  return `${String(value)} (${typeof value})`;
}

/** Such as `Date (object)`. */
function describeObject(value: object): string {
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return name === 'Object' ? 'an object' : `${name} (object)`;
}
