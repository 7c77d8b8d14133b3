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
