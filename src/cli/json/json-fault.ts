interface Place {
  readonly line: number;
  readonly column: number;
}

/** What may come next. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

const SPACE = /[ \t\n\r]*/y;
const SCALAR =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in a string
  /"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Where a text stops being JSON, counted from 1; `undefined` when it is JSON. `JSON.parse` of Node.js 20 names a
 * position for some faults only. For files of people: small, not deep.
 */
export function jsonFault(text: string): Place | undefined {
  const scan: Scan = { text, at: skipSpace(text, 0), open: [], expected: 'value' };
  while (scan.at < text.length) {
    if (!step(scan)) return placeOf(text, scan.at);
    scan.at = skipSpace(text, scan.at);
  }
  return scan.expected === 'nothing' ? undefined : placeOf(text, text.length);
}

interface Scan {
  readonly text: string;
  readonly open: ('{' | '[')[];
  at: number;
  expected: Expected;
}

/** Takes one token; false when it may not stand there. */
function step(scan: Scan): boolean {
  const character = scan.text.charAt(scan.at);
  if (character === '}' || character === ']') return close(scan, character);
  if (character === ',' || character === ':') return separate(scan, character);
  if (character === '{' || character === '[') return opens(scan, character);
  return scalar(scan);
}

function close(scan: Scan, character: string): boolean {
  const isName = scan.expected === 'name or end' && character === '}';
  const isValue = scan.expected === 'value or end' && character === ']';
  if (!isName && !isValue && scan.expected !== 'comma or end') return false;
  if (scan.open.pop() !== (character === '}' ? '{' : '[')) return false;
  return advance(scan, 1);
}

function separate(scan: Scan, character: string): boolean {
  if (scan.expected !== (character === ',' ? 'comma or end' : 'colon')) return false;
  scan.expected = character === ':' || scan.open.at(-1) === '[' ? 'value' : 'name';
  scan.at += 1;
  return true;
}

function opens(scan: Scan, character: '{' | '['): boolean {
  if (!scan.expected.startsWith('value')) return false;
  scan.open.push(character);
  scan.expected = character === '{' ? 'name or end' : 'value or end';
  scan.at += 1;
  return true;
}

function scalar(scan: Scan): boolean {
  SCALAR.lastIndex = scan.at;
  const [lexeme] = SCALAR.exec(scan.text) ?? [];
  if (lexeme === undefined) return false;
  if (scan.expected.startsWith('value')) return advance(scan, lexeme.length);
  if (!scan.expected.startsWith('name') || !lexeme.startsWith('"')) return false;
  scan.at += lexeme.length;
  scan.expected = 'colon';
  return true;
}

/** Past the end of a value. */
function advance(scan: Scan, length: number): true {
  scan.at += length;
  scan.expected = scan.open.length === 0 ? 'nothing' : 'comma or end';
  return true;
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

function placeOf(text: string, at: number): Place {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
