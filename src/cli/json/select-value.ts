import { members, type Range, stringValue, valueRange } from '../../json.ts';
import { escapeUnits } from '../../text.ts';

/** Names and list positions on the way to a value. */
export type JsonPath = readonly string[];

/** The source text of the value at `path`, exactly as in `text`; `undefined` if it does not exist. */
export function selectValue(text: string, path: JsonPath): string | undefined {
  let range: Range | undefined = valueRange(text, 0);
  for (const segment of path) {
    if (range === undefined) return undefined;
    range = findMember(text, range.start, segment);
  }
  return range && text.slice(range.start, range.end);
}

/** A string without its quotes and escapes; any other JSON value unchanged. */
export function scalarText(lexeme: string): string {
  if (!lexeme.startsWith('"')) return lexeme;
  // Half a surrogate pair has no UTF-8 form, so it keeps its escape.
  return stringValue(lexeme).replace(/\p{Cs}/gu, escapeUnits);
}

/** The source text of each member of an object or list, by name. The last of equal names counts, as in JSON.parse. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const all = members(text, valueRange(text, 0)?.start ?? 0);
  return new Map(Array.from(all, ({ name, range }) => [name, text.slice(range.start, range.end)]));
}

/** The first names of the object or list at `path`; none for any other value. */
export function memberNames(text: string, path: JsonPath, limit: number): readonly string[] {
  const value = selectValue(text, path);
  const names: string[] = [];
  if (value === undefined) return names;
  for (const { name } of members(value, 0)) {
    if (names.length === limit) return [...names, '…'];
    names.push(name);
  }
  return names;
}

/** The path that differs from `path` only in upper and lower case; `undefined` if none does. */
export function findCaseless(text: string, path: JsonPath): JsonPath | undefined {
  const found: string[] = [];
  for (const segment of path) {
    const names = memberNames(text, found, Number.POSITIVE_INFINITY);
    const name = names.includes(segment) ? segment : names.find((other) => isCaselessEqual(other, segment));
    if (name === undefined) return undefined;
    found.push(name);
  }
  return found;
}

function isCaselessEqual(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
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

/** The last of equal names counts, as in JSON.parse. */
function findMember(text: string, start: number, segment: string): Range | undefined {
  let found: Range | undefined;
  for (const { name, range } of members(text, start)) if (name === segment) found = range;
  return found;
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

/** The leaves of `text` in order, each with the names of its path; `nameItem` names the items of a list. */
export function* leaves(text: string, nameItem: (index: string) => string = String): Generator<Leaf> {
  const range = valueRange(text, 0);
  if (range !== undefined) yield* leavesIn(text, { range, path: [], nameItem });
}

interface Branch {
  readonly range: Range;
  readonly path: JsonPath;
  readonly nameItem: (index: string) => string;
}

function* leavesIn(text: string, { range: { start, end }, path, nameItem }: Branch): Generator<Leaf> {
  const isList = text.charAt(start) === '[';
  let isLeaf = true;
  for (const { name, range } of path.length < DEEPEST_PATH ? members(text, start) : []) {
    isLeaf = false;
    yield* leavesIn(text, { range, path: [...path, isList ? nameItem(name) : shortened(name)], nameItem });
  }
  if (isLeaf) yield { path, lexeme: text.slice(start, end).replace(/^([{[])\s+(?=[}\]]$)/, '$1') };
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}
