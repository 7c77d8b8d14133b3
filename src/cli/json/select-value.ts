import { isClosing, isOpening, members, type Range, stringValue, type Token, tokens, valueRange } from '../../json.ts';

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
  readonly path: readonly string[];
  /** Source text. */
  readonly lexeme: string;
}

/** A deeper object or list is one leaf: with the paths of all its values, the output would grow with their square. */
const DEEPEST_PATH = 32;
/** A longer name is cut, because it is repeated in the path of each of its values. */
const LONGEST_NAME = 200;

/** The leaves of `text` in order, each with the names of its path; `nameItem` names the items of a list. */
export function* leaves(text: string, nameItem: (index: number) => string = String): Generator<Leaf> {
  const walk = new Walk(text, nameItem);
  for (const token of tokens(text)) {
    const lexeme = walk.step(token);
    if (lexeme !== undefined) yield { path: walk.path(), lexeme };
  }
}

/** The name of the current member; `undefined` before the first one. */
interface Frame {
  readonly isList: boolean;
  index: number;
  name: string | undefined;
}

class Walk {
  readonly #text: string;
  readonly #nameItem: (index: number) => string;
  readonly #frames: Frame[] = [];
  #expectsName = false;
  #hasJustOpened = false;
  /** Start of the object or list that is too deep, and how many are open in it. */
  #deep = { start: 0, open: 0 };

  constructor(text: string, nameItem: (index: number) => string) {
    this.#text = text;
    this.#nameItem = nameItem;
  }

  /** Reads the next token. Returns the text of a leaf if the token completes one. */
  step(token: Token): string | undefined {
    if (this.#deep.open > 0 || (isOpening(token) && this.#frames.length === DEEPEST_PATH)) return this.#skip(token);
    const isEmpty = this.#hasJustOpened;
    this.#hasJustOpened = isOpening(token);
    if (this.#hasJustOpened) return this.#open(token);
    if (isClosing(token)) return this.#close(token, isEmpty);
    if (token.kind === ',') return this.#nextMember();
    if (token.kind === ':') return undefined;
    if (this.#expectsName) return this.#enter(token);
    return this.#text.slice(token.start, token.end);
  }

  #skip(token: Token): string | undefined {
    this.#hasJustOpened = false;
    if (this.#deep.open === 0) this.#deep.start = token.start;
    if (isOpening(token)) this.#deep.open += 1;
    if (isClosing(token)) this.#deep.open -= 1;
    return this.#deep.open === 0 ? this.#text.slice(this.#deep.start, token.end) : undefined;
  }

  path(): readonly string[] {
    return this.#frames.flatMap(({ isList, index, name }) =>
      isList ? [this.#nameItem(index)] : name === undefined ? [] : [name],
    );
  }

  #open({ kind }: Token): undefined {
    this.#frames.push({ isList: kind === '[', index: 0, name: undefined });
    this.#expectsName = kind === '{';
  }

  #close({ kind }: Token, isEmpty: boolean): string | undefined {
    this.#frames.pop();
    this.#expectsName = false;
    if (!isEmpty) return undefined;
    return kind === '}' ? '{}' : '[]';
  }

  #nextMember(): undefined {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    frame.index += 1;
    this.#expectsName = !frame.isList;
  }

  #enter({ start, end }: Token): undefined {
    const frame = this.#frames.at(-1);
    const name = stringValue(this.#text.slice(start, end));
    if (frame !== undefined) frame.name = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
    this.#expectsName = false;
  }
}
