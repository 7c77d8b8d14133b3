import { isJsonObject, type JsonObject } from '../../src/json.ts';
import type { Example, Place, Refusal, Schema } from './contract.ts';

/** All problems of a document. The message has a line for each one. */
export class SpecError extends Error {
  override readonly name = 'SpecError';
  readonly refusals: readonly Refusal[];

  constructor(refusals: readonly Refusal[]) {
    super(refusals.map(refusalText).join('\n'));
    this.refusals = refusals;
  }
}

/** The JSON pointer is not encoded, because API paths contain many slashes and people read this text. */
export function refusalText({ path, problem }: Refusal): string {
  return `${['#', ...path].join('/')}: ${problem}`;
}

/**
 * Reads a whole document, of which other problems are known already.
 *
 * @throws SpecError with all its problems, at most one for each place
 */
export function readDocument<Result>(
  value: unknown,
  read: (root: SpecNode) => Result,
  known: readonly Refusal[] = [],
): Result {
  const found: Refusal[] = [];
  const root = new SpecNode(value, [], { refusals: found, notes: [], examples: [], schemas: new Map(), root: value });
  const result = root.attempt(() => read(root));
  const byPlace = new Map([...found, ...known].toReversed().map((refusal) => [placeOf(refusal), refusal]));
  if (byPlace.size > 0) throw new SpecError([...byPlace.values()].toReversed());
  return result as Result; // if no problem was recorded, `attempt` returns the result of `read`
}

function placeOf({ path, key }: Refusal): string {
  return JSON.stringify(key === undefined ? path : [...path, key]);
}

/** Stops reading the part that cannot be read; its problem is recorded already. */
class Unreadable extends Error {}

/** What all nodes of a document share. */
interface Document {
  readonly root: unknown;
  readonly refusals: Refusal[];
  /** Parts that are valid, but have no effect. */
  readonly notes: Refusal[];
  readonly examples: Example[];
  /** Schemas by their place; `undefined` while a schema is being read. */
  readonly schemas: Map<string, Schema | undefined>;
}

/** A value of the document together with its place. */
export class SpecNode implements Place {
  readonly value: unknown;
  readonly path: readonly string[];
  readonly document: Document;

  constructor(value: unknown, path: readonly string[], document: Document) {
    this.value = value;
    this.path = path;
    this.document = document;
  }

  /** The document, or another part of it. */
  get root(): SpecNode {
    return new SpecNode(this.document.root, [], this.document);
  }

  /** Whether no problem has been recorded so far. */
  get isClean(): boolean {
    return this.document.refusals.length === 0;
  }

  /** Records a problem, of one key of the map if `key` is given; reading continues. */
  refuse(problem: string, key?: string): void {
    this.document.refusals.push({ path: this.path, key, problem });
  }

  /** Records a problem and ends the current `attempt`. */
  fail(problem: string): never {
    this.refuse(problem);
    return this.abandon();
  }

  /** Ends the current `attempt`, because a problem is recorded already. */
  abandon(): never {
    throw new Unreadable();
  }

  /** Records that a part has no effect; the document is valid. */
  note(problem: string, key?: string): void {
    this.document.notes.push({ path: this.path, key, problem });
  }

  /** Returns `undefined` if the part cannot be read, so that one run reports the problems of all parts. */
  attempt<Result>(read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (error instanceof Unreadable) return undefined;
      throw error;
    }
  }

  /** Rejects the keys of the map that the generator does not implement. */
  refuseKeys(keys: readonly string[], problem: string): this {
    for (const key of keys) if (this.has(key)) this.refuse(`'${key}' is not implemented; ${problem}`, key);
    return this;
  }

  keys(): string[] {
    return Object.keys(this.#map());
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#map(), key);
  }

  get(key: string): SpecNode {
    if (!this.has(key)) {
      this.refuse(`'${key}' is missing`, key);
      this.abandon();
    }
    return this.#child(key, this.#map()[key]);
  }

  find(key: string): SpecNode | undefined {
    return this.has(key) ? this.get(key) : undefined;
  }

  /** Names and values of a map, in the order of the document. */
  entries(): [name: string, node: SpecNode][] {
    return Object.entries(this.#map()).map(([key, value]) => [key, this.#child(key, value)]);
  }

  /** Entries of the map at `key`; none if the key is absent. */
  entriesAt(key: string): [name: string, node: SpecNode][] {
    return this.find(key)?.entries() ?? [];
  }

  items(): SpecNode[] {
    if (!Array.isArray(this.value)) this.fail('a list is expected');
    return this.value.map((value, index) => this.#child(String(index), value));
  }

  /** Items of the list at `key`; none if the key is absent. */
  itemsAt(key: string): SpecNode[] {
    return this.find(key)?.items() ?? [];
  }

  someItems(): SpecNode[] {
    const items = this.items();
    return items.length > 0 ? items : this.fail('at least one item is expected');
  }

  string(): string {
    return typeof this.value === 'string' ? this.value : this.fail('text is expected');
  }

  /** Text for people, with each paragraph and each item of a list on one line. */
  prose(): string {
    return this.string()
      .trim()
      .replaceAll(/(?<=\S)[ \t]+$/gm, '')
      .replaceAll(/(?<=\S)\n[ \t]*(?=\S)(?!(?:[-*+•#]|\d+[.)])[ \t]|\|)/g, ' ')
      .replaceAll(/(?<=\S)[ \t]{2,}/g, ' ');
  }

  boolean(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail('true or false is expected');
  }

  isTrue(key: string): boolean {
    return this.find(key)?.boolean() ?? false;
  }

  number(): number {
    return Number.isFinite(this.value) ? (this.value as number) : this.fail('a number is expected');
  }

  oneOf<Choice extends string>(what: string, choices: readonly Choice[]): Choice {
    const choice = choices.find((candidate) => candidate === this.value);
    return choice ?? this.fail(`unknown ${what} ${JSON.stringify(this.value)}; known: ${choices.join(', ')}`);
  }

  /** The value at these keys, or the nearest one around it that exists. */
  at(keys: readonly PropertyKey[]): SpecNode {
    const [key, ...others] = keys.map(String);
    const inner = key === undefined ? undefined : this.#step(key);
    return inner?.at(others) ?? this;
  }

  /** The value itself, or the value that its `$ref` refers to in the same document. */
  resolved(seen: readonly string[] = []): SpecNode {
    const ref = this.find('$ref');
    if (ref === undefined) return this;
    const pointer = ref.string();
    if (!pointer.startsWith('#/')) ref.fail(`only references into this document are implemented, not '${pointer}'`);
    if (seen.includes(pointer)) ref.fail(`'${pointer}' refers to itself`);
    return pointerKeys(pointer)
      .reduce<SpecNode>((node, key) => node.#step(key) ?? ref.fail(`'${pointer}' does not exist`), this.root)
      .resolved([...seen, pointer]);
  }

  #step(key: string): SpecNode | undefined {
    if (typeof this.value !== 'object' || this.value === null || !Object.hasOwn(this.value, key)) return undefined;
    return this.#child(key, (this.value as Record<string, unknown>)[key]);
  }

  #map(): JsonObject {
    const { value } = this;
    if (!isJsonObject(value))
      this.fail(this.path.length === 0 ? 'this is not an OpenAPI document: a map is expected' : 'a map is expected');
    return value;
  }

  #child(key: string, value: unknown): SpecNode {
    return new SpecNode(value, [...this.path, key], this.document);
  }
}

/** The keys of a JSON pointer that begins with `#/`. */
export function pointerKeys(pointer: string): string[] {
  return pointer
    .slice(2)
    .split('/')
    .map((token) => decoded(token).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token; // it is not percent-encoded
  }
}
