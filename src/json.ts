export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither `null` nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; `undefined` if it is not JSON. */
export function parseJson(text: string, revive?: (name: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, revive);
  } catch {
    return undefined; // no JSON text has this value
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
const BARE_WORD = /[^\s{}[\],:"]+/y;

/**
 * The tokens of `text` from `start` on. `text` is valid JSON: the client has parsed it before.
 *
 * Why not lossless-json: it keeps the digits of a number, but it refuses repeated names, puts names that look like
 * integers first, decodes `\u00e9`, has no source ranges and no paths, overflows the stack on deep nesting, and is slower.
 */
export function* tokens(text: string, start = 0): Generator<Token> {
  for (let at = skip(WHITESPACE, text, start); at < text.length; ) {
    const token = tokenAt(text, at);
    yield token;
    at = skip(WHITESPACE, text, token.end);
  }
}

/** The value of a string token. */
export function stringValue(lexeme: string): string {
  return String(JSON.parse(lexeme));
}

/** The range of a value in a JSON text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

interface Member {
  readonly name: string;
  readonly range: Range;
}

/** The members of the object or list at `start`; none for other values. */
export function* members(text: string, start: number): Generator<Member> {
  const opening = text.charAt(start);
  if (opening !== '{' && opening !== '[') return;
  let at = start + 1;
  for (let index = 0; ; index += 1) {
    const member = memberAt(text, at, opening === '[' ? index : undefined);
    if (member === undefined) return;
    yield member;
    const separator = nextToken(text, member.range.end);
    if (separator?.kind !== ',') return;
    at = separator.end;
  }
}

/** The member that starts at `at`; `undefined` where the object or list ends. */
function memberAt(text: string, at: number, index: number | undefined): Member | undefined {
  const first = nextToken(text, at);
  if (first === undefined || first.kind === '}' || first.kind === ']') return undefined;
  if (index !== undefined) return withRange(String(index), valueRange(text, first.start));
  const colon = nextToken(text, first.end);
  return withRange(stringValue(text.slice(first.start, first.end)), valueRange(text, colon?.end ?? text.length));
}

function withRange(name: string, range: Range | undefined): Member | undefined {
  return range && { name, range };
}

/** The value that starts at or after `from`: counts brackets instead of recursing, so depth does not matter. */
export function valueRange(text: string, from: number): Range | undefined {
  let start: number | undefined;
  let depth = 0;
  for (const token of tokens(text, from)) {
    start ??= token.start;
    depth += depthChange(token);
    if (depth === 0) return { start, end: token.end };
  }
  return undefined;
}

/** The JSON texts of a file: the value at its start, which may have several lines, then one on each line. Other lines are skipped. */
export function jsonDocuments(text: string): readonly string[] {
  const first = firstValue(text);
  return [first, ...text.slice(first.length).split('\n')].filter((line) => isJson(line.trim()));
}

function firstValue(text: string): string {
  try {
    return text.slice(0, valueRange(text, 0)?.end ?? 0);
  } catch {
    return ''; // not JSON
  }
}

/** 1 for an opening bracket, -1 for a closing one. */
export function depthChange({ kind }: Token): number {
  if (kind === '{' || kind === '[') return 1;
  return kind === '}' || kind === ']' ? -1 : 0;
}

function nextToken(text: string, from: number): Token | undefined {
  return tokens(text, from).next().value ?? undefined;
}

function tokenAt(text: string, start: number): Token {
  const first = text.charAt(start);
  if (PUNCTUATION.has(first)) return { kind: first as TokenKind, start, end: start + 1 };
  if (first === '"') return { kind: 'string', start, end: stringEnd(text, start) };
  const end = skip(BARE_WORD, text, start);
  if (end === start) throw new SyntaxError(`unexpected character at position ${start} of the JSON text`);
  return { kind: /[tfn]/.test(first) ? 'literal' : 'number', start, end };
}

/** By `indexOf`, not by a regular expression: a string of megabytes must not exhaust the matcher's stack. */
function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    if (!isEscaped(text, quote)) return quote + 1;
  }
  throw new SyntaxError(`the string at position ${start} of the JSON text has no end`);
}

function isEscaped(text: string, at: number): boolean {
  let backslashCount = 0;
  while (text.charAt(at - 1 - backslashCount) === '\\') backslashCount += 1;
  return backslashCount % 2 === 1;
}

function skip(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}
