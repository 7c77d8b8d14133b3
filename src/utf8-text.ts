/** The problem of a file for which `utf8Text` returns `undefined`. */
export const UTF16_PROBLEM = 'it is UTF-16; save it as UTF-8';

/**
 * The text of a JSON file or body. A byte order mark is removed, because editors and PowerShell add it, and JSON must not
 * have one (RFC 8259 §8.1). `undefined` for UTF-16, which PowerShell 5 writes.
 */
export function utf8Text(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  const hasUtf16Mark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // The first characters of JSON are ASCII, so in UTF-16 every other byte is 0.
  if (hasUtf16Mark || first === 0 || second === 0) return undefined;
  return bytes.toString().replace(/^\uFEFF/, '');
}
