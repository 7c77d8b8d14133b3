import { unescapePointerFragment } from '@redocly/openapi-core';
import { isJsonObject, type JsonObject } from '../../src/json.ts';
import type { Example, Place, Refusal, Schema } from './contract.ts';

/** All problems of a document, at most one for each place. The message has a line for each one. */
export class SpecError extends Error {
  override readonly name = 'SpecError';
  readonly refusals: readonly Refusal[];

  constructor(refusals: readonly Refusal[]) {
    const first = new Map(refusals.toReversed().map((refusal) => [idOf(refusal.path), refusal]));
    const distinct = [...first.values()].toReversed();
    super(distinct.map(refusalText).join('\n'));
    this.refusals = distinct;
  }
}

/** The JSON pointer is not encoded, because API paths contain many slashes and people read this text. */
export function refusalText({ path, problem }: Refusal): string {
  return `${['#', ...path].join('/')}: ${problem}`;
}

/** What all nodes of a document share. */
interface Document {
  readonly root: unknown;
  readonly refusals: Refusal[];
  /** Parts that are valid, but have no effect. */
  readonly notes: Refusal[];
  readonly examples: Example[];
  /** Schemas that were read, by their place; `undefined` while a schema is being read. */
  readonly places: Map<string, Schema | undefined>;
  /** Components by the names of their types. */
  readonly components: Map<string, SpecNode>;
  /** Schemas of the components, then those inside operations, by the names of their types. */
  readonly schemas: Map<string, Schema>;
  /** Ids of the operations. */
  readonly ids: Set<string>;
}

/**
 * A value of the document together with its place. Reading never fails: a part of another form than the expected one is
 * recorded as a problem and read as an empty one, and a part that is missing causes no more problems.
 */
export class SpecNode implements Place {
  readonly value: unknown;
  readonly path: readonly string[];
  readonly document: Document;

  constructor(
    value: unknown,
    path: readonly string[] = [],
    document: Document = {
      ...{ root: value, refusals: [], notes: [], examples: [] },
      ...{ places: new Map(), components: new Map(), schemas: new Map(), ids: new Set() },
    },
  ) {
    this.value = value;
    this.path = path;
    this.document = document;
  }

  get id(): string {
    return idOf(this.path);
  }

  /** Whether no problem has been recorded of this part. */
  get isClean(): boolean {
    return !this.document.refusals.some(({ path }) => this.path.every((key, index) => path[index] === key));
  }

  /** Records a problem of the value, or of keys of it. */
  refuse(problem: string, ...keys: readonly string[]): undefined {
    if (this.value !== undefined) this.document.refusals.push({ path: [...this.path, ...keys], problem });
  }

  /** Records that a part has no effect; the document is valid. */
  note(problem: string, ...keys: readonly string[]): void {
    this.document.notes.push({ path: [...this.path, ...keys], problem });
  }

  /** Rejects the keys of the map that the generator does not implement. */
  refuseKeys(keys: readonly string[], problem: string): void {
    for (const key of keys) if (this.has(key)) this.refuse(`'${key}' is not implemented; ${problem}`, key);
  }

  /** Notes the keys of the map that have no effect. */
  noteKeys(keys: readonly string[], reason: string): void {
    for (const key of keys) if (this.has(key)) this.note(`'${key}' has no effect; ${reason}`, key);
  }

  keys(): string[] {
    return Object.keys(this.#map());
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#map(), key);
  }

  get(key: string): SpecNode {
    const map = this.#map();
    if (isJsonObject(this.value) && !Object.hasOwn(map, key)) this.refuse(`'${key}' is missing`, key);
    return this.#child(key, Object.hasOwn(map, key) ? map[key] : undefined);
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
    const list: readonly unknown[] = Array.isArray(this.value) ? this.value : (this.refuse('a list is expected') ?? []);
    return list.map((value, index) => this.#child(String(index), value));
  }

  /** Items of the list at `key`; none if the key is absent. */
  itemsAt(key: string): SpecNode[] {
    return this.find(key)?.items() ?? [];
  }

  someItems(): SpecNode[] {
    const items = this.items();
    if (items.length === 0) this.refuse('at least one item is expected');
    return items;
  }

  string(): string {
    return typeof this.value === 'string' ? this.value : (this.refuse('text is expected') ?? '');
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
    return typeof this.value === 'boolean' ? this.value : (this.refuse('true or false is expected') ?? false);
  }

  isTrue(key: string): boolean {
    return this.find(key)?.boolean() ?? false;
  }

  number(): number {
    return Number.isFinite(this.value) ? Number(this.value) : (this.refuse('a number is expected') ?? 0);
  }

  oneOf<Choice extends string>(what: string, choices: readonly Choice[]): Choice | undefined {
    const choice = choices.find((candidate) => candidate === this.value);
    return choice ?? this.refuse(`unknown ${what} ${JSON.stringify(this.value)}; known: ${choices.join(', ')}`);
  }

  /** The value at these keys, or the nearest one around it that exists. */
  at(keys: readonly PropertyKey[]): SpecNode {
    const [key, ...others] = keys.map(String);
    const inner = key === undefined ? undefined : this.step(key);
    return inner?.at(others) ?? this;
  }

  /** The value itself, or the value that its `$ref` refers to in the same document. */
  resolved(seen: readonly string[] = []): SpecNode {
    const target = this.target();
    if (target === undefined) return this;
    if (!seen.includes(target.id)) return target.resolved([...seen, target.id]);
    this.refuse(`'${target.path.at(-1)}' refers to itself`, '$ref');
    return this.#child('$ref', undefined);
  }

  /** The same, of a part that is no schema: beside its `$ref`, only a text has an effect, which replaces that of the target. */
  replaced(): SpecNode {
    const target = this.resolved();
    if (target === this || !isJsonObject(target.value)) return target;
    const beside = Object.entries(this.#map()).filter(([key]) => key !== '$ref' && !key.startsWith('x-'));
    const texts = beside.filter(([key]) => TEXTS.includes(key));
    const others = beside.map(([key]) => key).filter((key) => !TEXTS.includes(key));
    this.noteKeys(others, 'the target of the $ref has its own');
    return new SpecNode({ ...target.value, ...Object.fromEntries(texts) }, target.path, this.document);
  }

  /** The value that a `$ref` names, which can be a `$ref`; `undefined` without one. */
  target(): SpecNode | undefined {
    const ref = this.find('$ref');
    if (ref === undefined) return undefined;
    const pointer = ref.string();
    if (!pointer.startsWith('#/')) ref.refuse(`only references into this document are implemented, not '${pointer}'`);
    const root = new SpecNode(this.document.root, [], this.document);
    const target = pointerKeys(pointer).reduce<SpecNode | undefined>((node, key) => node?.step(key), root);
    if (target === undefined) ref.refuse(`'${pointer}' does not exist`);
    return target ?? ref.#child('', undefined);
  }

  step(key: string): SpecNode | undefined {
    if (typeof this.value !== 'object' || this.value === null || !Object.hasOwn(this.value, key)) return undefined;
    return this.#child(key, (this.value as Record<string, unknown>)[key]);
  }

  /** A schema can be true or false. */
  #map(): JsonObject {
    if (isJsonObject(this.value)) return this.value;
    return typeof this.value === 'boolean' ? {} : (this.refuse('a map is expected') ?? {});
  }

  #child(key: string, value: unknown): SpecNode {
    return new SpecNode(value, [...this.path, key], this.document);
  }
}

const TEXTS = ['summary', 'description'];

/** The keys of a JSON pointer that begins with `#/`. */
export function pointerKeys(pointer: string): string[] {
  return pointer.slice(2).split('/').map(unescapePointerFragment);
}

function idOf(path: readonly string[]): string {
  return path.join('\n');
}
