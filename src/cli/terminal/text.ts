import { stripVTControlCharacters } from 'node:util';
import { visible } from '../../text.ts';

/** `text` as the second half of a sentence; an abbreviation such as `HTTP` stays. */
export function lowerFirst(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** A value as a line of JSON. Control characters are escaped, which does not change the value. */
export function jsonLine(value: unknown): string {
  return `${visible(JSON.stringify(value))}\n`;
}

/**
 * `text` in lines of at most `width` characters, colours not counted, broken at spaces; a longer word has its own line.
 * Its own lines stay, and what belongs to an item of a list is indented.
 */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const [marker = ''] = /^\s*(?:[-*+•]|\d+[.)])\s+/.exec(line) ?? [];
    return besideHead(marker, wrapLine(line.slice(marker.length), width - marker.length), marker.length);
  });
}

function wrapLine(text: string, width: number): string[] {
  const lines: string[] = [];
  let [line, length] = ['', 0];
  for (const word of text.split(' ')) {
    const wordLength = stripVTControlCharacters(word).length;
    if (line !== '' && length + 1 + wordLength > width) {
      lines.push(line);
      [line, length] = [word, wordLength];
    } else {
      [line, length] = line === '' ? [word, wordLength] : [`${line} ${word}`, length + 1 + wordLength];
    }
  }
  return [...lines, line];
}

/** The first line after `head`, the others below it. `indent`: the width of the head, colours not counted. */
export function besideHead(head: string, [first = '', ...rest]: readonly string[], indent: number): readonly string[] {
  return [head + first, ...rest.map((line) => (line === '' ? '' : ' '.repeat(indent) + line))];
}

/** `2026-02-01 01:00 CET`. */
export function localTime(epochMs: number, timeZone: string | undefined): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  const part = Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
  return `${part['year']}-${part['month']}-${part['day']} ${part['hour']}:${part['minute']} ${part['timeZoneName']}`;
}

/** `1000` as `1,000`; on the digits themselves, so that no number is too long. Anything but digits stays. */
export function grouped(count: string | number): string {
  const digits = String(count);
  if (!/^\d+$/.test(digits)) return digits;
  const first = digits.length % 3 || 3;
  return [digits.slice(0, first), ...(digits.slice(first).match(/\d{3}/g) ?? [])].join(',');
}

/** A command line for a POSIX shell. */
export function commandLine(argv: readonly string[]): string {
  return ['fxrates', ...argv].map(quoteForShell).join(' ');
}

/** `text` as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./…-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The start of `text` that fits in `width` columns; colours are not counted. */
export function clip(text: string, width: number): string {
  let left = width;
  return text.replace(/\p{Cc}\[[\d;]*m|./gsu, (part) => (part.length > 2 || left-- > 0 ? part : ''));
}
