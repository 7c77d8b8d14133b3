import { depthChange, members, type Token, tokens } from '../../json.ts';
import { escapeUnits, visible } from '../../text.ts';
import type { Palette } from './screen.ts';

/** Names and list positions on the way to a value. */
export type JsonPath = readonly string[];

/** The source text of the value at `path`, exactly as in `text`; `undefined` if it does not exist. */
export function selectValue(text: string, path: JsonPath): string | undefined {
  let value: string | undefined = text.trim();
  for (const name of path) value = value && memberTexts(value).get(name);
  return value;
}

/** A string without its quotes and escapes; any other JSON value unchanged. */
export function scalarText(lexeme: string): string {
  if (!lexeme.startsWith('"')) return lexeme;
  // Half a surrogate pair has no UTF-8 form, so it keeps its escape.
  return String(JSON.parse(lexeme)).replace(/\p{Cs}/gu, escapeUnits);
}

/** The source text of each member of an object or list, by name. The last of equal names counts, as in JSON.parse. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  return new Map(Array.from(members(text), (member) => [member.name, member.text]));
}

/** A path in the form of `--get`: with dots, or a JSON pointer if a name contains a dot. */
export function writeJsonPath(path: JsonPath): string {
  if (path.every((name) => /^[^./]+$/.test(name))) return path.join('.');
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Reads `rates.EUR`, `.rates.EUR`, `list.0.name`, or a JSON pointer (RFC 6901), which can also name keys with dots. */
export function parseJsonPath(path: string): JsonPath {
  if (path.startsWith('/')) return path.slice(1).split('/').map(decodePointerSegment);
  return path.replace(/^\./, '').split('.');
}

function decodePointerSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A scalar, an empty object or list, or one that is nested too deep for a path. */
interface Leaf {
  readonly path: JsonPath;
  readonly lexeme: string;
}

/** A deeper object or list is one leaf: with the paths of all its values, the output would grow with their square. */
const DEEPEST_PATH = 32;
/** A longer name is cut, because it is repeated in the path of each of its values. */
const LONGEST_NAME = 200;

/** The leaves of `text` in order, each with the names of its path. */
export function* leaves(text: string): Generator<Leaf> {
  yield* leavesIn(text.trim(), []);
}

function* leavesIn(text: string, path: JsonPath): Generator<Leaf> {
  let isLeaf = true;
  for (const member of path.length < DEEPEST_PATH ? members(text) : []) {
    isLeaf = false;
    yield* leavesIn(member.text, [...path, shortened(member.name)]);
  }
  if (isLeaf) yield { path, lexeme: text.replace(/^([{[])\s+(?=[}\]]$)/, '$1') };
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

/** The styles of names, strings, and of `true`, `false` and `null`. */
type JsonPalette = Pick<Palette, 'name' | 'string' | 'faint'>;

/** Deeper levels are not indented further, or 10 000 levels would be 200 MB of spaces. */
const DEEPEST_INDENT = 32;

/**
 * `text` over several lines, safe to show on a terminal. Only white space between tokens changes: digits, escapes, order and
 * duplicates stay.
 */
export function prettyJson(text: string, palette: JsonPalette): string {
  const lines: string[] = [];
  let line = '';
  let depth = 0;
  let hasJustOpened = false;
  const newLine = () => {
    lines.push(line);
    line = '  '.repeat(Math.min(depth, DEEPEST_INDENT));
  };
  for (const token of tokens(text)) {
    const change = depthChange(token);
    depth += Math.min(change, 0);
    // Brackets that are not empty are on separate lines.
    if (change < 0 !== hasJustOpened) newLine();
    line += token.kind === ':' ? ': ' : coloured(text, token, palette);
    hasJustOpened = change > 0;
    depth += Math.max(change, 0);
    if (token.kind === ',') newLine();
  }
  return [...lines, line].join('\n');
}

/** `text` without the white space between its tokens. */
export function compactJson(text: string): string {
  const parts: string[] = [];
  for (const { start, end } of tokens(text)) parts.push(text.slice(start, end));
  return parts.join('');
}

function coloured(text: string, { kind, start, end }: Token, palette: JsonPalette): string {
  const lexeme = text.slice(start, end);
  if (kind === 'string') return (isName(text, end) ? palette.name : palette.string)(visible(lexeme));
  return kind === 'literal' ? palette.faint(lexeme) : lexeme;
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charAt(at) === ':';
}
