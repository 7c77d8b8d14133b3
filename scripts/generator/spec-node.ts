/** The spec asks for something the generator does not implement, or is wrong; the message names the place. */
export class SpecError extends Error {
  override readonly name = 'SpecError';
}

/** A value of the spec together with where it stands, so that every complaint names the place. */
export class SpecNode {
  readonly value: unknown;
  /** JSON pointer as a URI fragment: `#/components/schemas/QuotaData`. */
  readonly at: string;
  readonly #root: SpecNode;

  constructor(value: unknown, at = '#', root?: SpecNode) {
    this.value = value;
    this.at = at;
    this.#root = root ?? this;
  }

  fail(problem: string): never {
    throw new SpecError(`${this.at}: ${problem}`);
  }

  /** Throws for any key that the generator does not implement: a typo must not pass as a wish. */
  only(what: string, ...keys: string[]): this {
    for (const key of Object.keys(this.#object())) {
      if (!keys.includes(key)) this.fail(`unknown ${what} '${key}'; known here: ${keys.join(', ')}`);
    }
    return this;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#object(), key);
  }

  get(key: string): SpecNode {
    if (!this.has(key)) this.fail(`'${key}' is missing`);
    return this.#child(key, this.#object()[key]);
  }

  find(key: string): SpecNode | undefined {
    return this.has(key) ? this.get(key) : undefined;
  }

  /** Names and values of a map, in the order of the spec. */
  entries(): [name: string, node: SpecNode][] {
    return Object.entries(this.#object()).map(([key, value]) => [key, this.#child(key, value)]);
  }

  /** Those of the map at `key`; none when there is no such key. */
  entriesAt(key: string): [name: string, node: SpecNode][] {
    return this.find(key)?.entries() ?? [];
  }

  items(): SpecNode[] {
    if (!Array.isArray(this.value)) this.fail('a list is expected');
    return this.value.map((value, index) => this.#child(String(index), value));
  }

  /** Those of the list at `key`; none when there is no such key. */
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

  /** Text for people, its paragraphs unwrapped. */
  prose(): string {
    return this.string()
      .trim()
      .replaceAll(/(?<=\S)\n(?=\S)/g, ' ');
  }

  boolean(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail('true or false is expected');
  }

  number(): number {
    return typeof this.value === 'number' ? this.value : this.fail('a number is expected');
  }

  oneOf<Choice extends string>(what: string, choices: readonly Choice[]): Choice {
    const choice = choices.find((candidate) => candidate === this.value);
    return choice ?? this.fail(`unknown ${what} ${JSON.stringify(this.value)}; known: ${choices.join(', ')}`);
  }

  /** The value itself, or the one its `$ref` points to in the same document. */
  resolved(): SpecNode {
    const ref = this.find('$ref');
    if (ref === undefined) return this;
    this.only('key beside $ref', '$ref', 'description', 'summary');
    const [start, ...path] = ref.string().split('/');
    if (start !== '#') ref.fail(`only references into this document are implemented, not '${ref.string()}'`);
    return path
      .map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<SpecNode>((node, key) => node.find(key) ?? ref.fail(`'${ref.value}' does not exist`), this.#root)
      .resolved();
  }

  #object(): Record<string, unknown> {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.fail('a map is expected');
    return value as Record<string, unknown>;
  }

  #child(key: string, value: unknown): SpecNode {
    return new SpecNode(value, `${this.at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, this.#root);
  }
}
