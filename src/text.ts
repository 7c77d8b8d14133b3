const CONTROL_OR_FORMAT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * `text` with control and format characters written as `\u001b`, except line feed and tab: the text of a server must
 * not move the cursor, change colours or reverse a line.
 */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROL_OR_FORMAT, (character) => {
    return character === '\n' || character === '\t' ? character : escapeUnits(character);
  });
}

/** The same, with line feed and tab as `\n` and `\t`. */
export function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Each UTF-16 unit as an escape, such as `\u001b`. */
export function escapeUnits(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

interface Target {
  readonly path: string;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
}

/** Path and query of a request. Characters that are valid in a query are not encoded, so that it is readable. */
export function targetOf({ path, query }: Target): string {
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encoded(name)}=${encoded(value)}`),
  );
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/%(?:2C|3A|2F|E2%80%A6)/g, decodeURIComponent);
}

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

/** A URL without its user and password, up to the last `@`: a password that is not percent-encoded can have one, or a slash. */
export function withoutCredentials(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1***@');
}
