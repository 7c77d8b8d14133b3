export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither `null` nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; `undefined` if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no JSON text has this value
  }
}

/**
 * Where a text stops being JSON: `line 3, column 5`; nothing for an empty or a very long text. The message of `JSON.parse` can
 * quote a key, and not every one has the place.
 */
export function jsonErrorPlace(text: string): string {
  if (text === '' || text.length > MOST_SEARCHED) return '';
  let [start, end] = [0, text.length];
  while (start < end) {
    const middle = Math.ceil((start + end) / 2);
    if (isBeginningOfJson(text.slice(0, middle))) start = middle;
    else end = middle - 1;
  }
  const lines = text.slice(0, start).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** The search takes several times as long as parsing. */
const MOST_SEARCHED = 256 * 1024;

function isBeginningOfJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const [, position] = / in JSON at position (\d+)(?: \(line|$)/.exec(String(error)) ?? [];
    return position === undefined ? String(error).includes('end of JSON input') : Number(position) >= text.length;
  }
}

export function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

/** The fields with a value other than `undefined`; the object itself if these are all. */
export function definedOf<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  if (!Object.values(fields).includes(undefined)) return fields as never; // most calls; a copy is slow
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

type TokenKind = '{' | '}' | '[' | ']' | ',' | ':' | 'string' | 'number' | 'literal';

/** One token of a JSON text, as a range. The text is not decoded, so it is printed unchanged. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

const PUNCTUATION: ReadonlySet<string> = new Set(['{', '}', '[', ']', ',', ':']);
const WHITESPACE = /[ \t\n\r]*/y;
const BARE_WORD = /[^ \t\n\r{}[\],:"]+/y;

/**
 * The tokens of `text`, which is valid JSON: the client has parsed it before.
 *
 * Why not lossless-json: it keeps the digits of a number, but it refuses repeated names, puts names that look like
 * integers first, decodes `\u00e9`, has no source ranges and no paths, overflows the stack on deep nesting, and is slower.
 */
export function* tokens(text: string, start = 0): Generator<Token> {
  for (let token = tokenAt(text, start); token !== undefined; token = tokenAt(text, token.end)) yield token;
}

function tokenAt(text: string, from: number): Token | undefined {
  const start = endOf(WHITESPACE, text, from);
  const first = text.charAt(start);
  if (first === '') return undefined;
  if (PUNCTUATION.has(first)) return { kind: first as TokenKind, start, end: start + 1 };
  if (first === '"') return { kind: 'string', start, end: stringEnd(text, start) };
  return { kind: /[tfn]/.test(first) ? 'literal' : 'number', start, end: endOf(BARE_WORD, text, start) };
}

function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  pattern.test(text);
  return pattern.lastIndex;
}

/** Not by a regular expression: a string of megabytes must not exhaust the matcher's stack. */
function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charAt(first - 1) === '\\') first -= 1;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  return text.length;
}

interface Member {
  readonly name: string;
  /** The value, as in the source. */
  readonly text: string;
}

/** The members of the object or list that a JSON text is; none for other values. */
export function* members(text: string): Generator<Member> {
  let before = tokenAt(text, 0);
  const isList = before?.kind === '[';
  if (before === undefined || depthChange(before) < 1) return;
  for (let index = 0; before !== undefined; index += 1) {
    const [name, nameEnd] = isList ? [String(index), before.end] : nameAt(text, before.end);
    const range = valueRange(text, nameEnd);
    if (range === undefined) return;
    yield { name, text: text.slice(range.start, range.end) };
    const next = tokenAt(text, range.end);
    before = next?.kind === ',' ? next : undefined;
  }
}

/** The name of the member that starts at `from`, and the position after its colon; without a colon, the end of the text. */
function nameAt(text: string, from: number): readonly [name: string, end: number] {
  const name = tokenAt(text, from);
  const colon = name && tokenAt(text, name.end);
  if (name === undefined || colon === undefined) return ['', text.length];
  return [String(JSON.parse(text.slice(name.start, name.end))), colon.end];
}

/**
 * The value that starts at or after `from`; `undefined` before a closing bracket. It counts brackets: recursion could overflow,
 * and tokens take a hundred times as long.
 */
function valueRange(text: string, from: number): Omit<Token, 'kind'> | undefined {
  const first = tokenAt(text, from);
  if (first === undefined || depthChange(first) === 0) return first;
  let depth = 0;
  let end = first.start;
  do {
    const code = text.charCodeAt(end);
    depth += changeBy(code);
    end = code === QUOTE ? stringEnd(text, end) : end + 1;
  } while (depth > 0 && end < text.length);
  return depth === 0 ? { start: first.start, end } : undefined;
}

const [QUOTE, OPENING, CLOSING] = [0x22, 0x7b, 0x7d];

/** By code, because a setup has megabytes. The codes of `[` and `{` differ by one bit, as do those of `]` and `}`. */
function changeBy(code: number): number {
  const bracket = code | 0x20;
  if (bracket === OPENING) return 1;
  return bracket === CLOSING ? -1 : 0;
}

/** 1 for an opening bracket, -1 for a closing one. */
export function depthChange({ kind }: Token): number {
  return DEPTH_CHANGES[kind] ?? 0;
}

const DEPTH_CHANGES: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 };

/** A JSON text with its value. */
export interface JsonDocument {
  readonly text: string;
  readonly value: unknown;
}

/**
 * The JSON texts of a file: the value at its start, which may have several lines, then one on each line. Other lines are
 * skipped, such as one that a killed command has left incomplete; with more than a hundred, the file has none.
 */
export function jsonDocuments(text: string): readonly JsonDocument[] {
  const first = text.slice(0, valueRange(text, 0)?.end ?? 0);
  const lines = text.slice(first.length).match(LINES_WITH_BRACKETS) ?? [];
  const documents: JsonDocument[] = [];
  for (const [index, line] of [first, ...lines].entries()) {
    const value = parseJson(line.trim());
    if (value !== undefined) documents.push({ text: line.trim(), value });
    else if (index + 1 - documents.length > MOST_BROKEN) return [];
  }
  return documents;
}

const MOST_BROKEN = 100;

/** Others are not parsed, because a failure takes microseconds, and a file can have megabytes of empty lines. */
const LINES_WITH_BRACKETS = /(?:^|\n)[ \t]*[{[][^\n]*/g;
