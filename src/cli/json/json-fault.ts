import { UTF16_PROBLEM, utf8Text } from '../../utf8-text.ts';

interface Place {
  readonly line: number;
  readonly column: number;
}

/** The kind of token that is valid next. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

const SPACE = /[ \t\n\r]*/y;
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in a string
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The text of a JSON file, or the problem with it in words. */
export function jsonTextOf(bytes: Buffer): { readonly text: string } | { readonly problem: string } {
  const text = utf8Text(bytes);
  if (text === undefined) return { problem: UTF16_PROBLEM };
  const fault = jsonFault(text);
  if (fault === undefined) return { text };
  return { problem: `it is not valid JSON: line ${fault.line}, column ${fault.column}` };
}

/**
 * Where a text stops being JSON, counted from 1; `undefined` when it is JSON. `JSON.parse` names a position for some
 * faults only. For files of people: small, not deep.
 */
export function jsonFault(text: string): Place | undefined {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = match(SPACE, text, 0).length;
  while (at < text.length) {
    const token = match(TOKEN, text, at);
    const next: Expected | undefined = token === '' ? undefined : expectedAfter(token, expected, open);
    if (next === undefined) return placeOf(text, at);
    expected = next;
    at += token.length;
    at += match(SPACE, text, at).length;
  }
  return expected === 'nothing' ? undefined : placeOf(text, text.length);
}

/** The kind of token that may follow `token`; `undefined` if `token` is not valid here. */
function expectedAfter(token: string, expected: Expected, open: string[]): Expected | undefined {
  if (token === '}' || token === ']') return expectedAfterEnd(token, expected, open);
  if (token === ',' || token === ':') return expectedAfterSeparator(token, expected, open);
  if (expected.startsWith('name')) return token.startsWith('"') ? 'colon' : undefined;
  if (!expected.startsWith('value')) return undefined;
  if (!'{['.includes(token)) return expectedAfterValue(open);
  open.push(token);
  return token === '{' ? 'name or end' : 'value or end';
}

function expectedAfterEnd(token: '}' | ']', expected: Expected, open: string[]): Expected | undefined {
  const [opening, whenEmpty] = token === '}' ? ['{', 'name or end'] : ['[', 'value or end'];
  if (expected !== whenEmpty && expected !== 'comma or end') return undefined;
  return open.pop() === opening ? expectedAfterValue(open) : undefined;
}

function expectedAfterSeparator(token: ',' | ':', expected: Expected, open: string[]): Expected | undefined {
  if (expected !== (token === ',' ? 'comma or end' : 'colon')) return undefined;
  return token === ':' || open.at(-1) === '[' ? 'value' : 'name';
}

function expectedAfterValue({ length: depth }: readonly string[]): Expected {
  return depth === 0 ? 'nothing' : 'comma or end';
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function placeOf(text: string, at: number): Place {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
