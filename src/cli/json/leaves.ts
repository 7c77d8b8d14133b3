import { stringValue, type Token, tokens } from '../../json-tokens.ts';

/** A value without members: a scalar, or an empty object or list. */
interface Leaf {
  readonly path: readonly string[];
  /** Source text. */
  readonly lexeme: string;
}

/** The leaves of `text` in their order, each with the names that lead to it; `nameItem` names the items of a list. */
export function* leaves(text: string, nameItem: (index: number) => string = String): Generator<Leaf> {
  const walk = new Walk(text, nameItem);
  for (const token of tokens(text)) {
    const lexeme = walk.step(token);
    if (lexeme !== undefined) yield { path: walk.path(), lexeme };
  }
}

/** A frame's name is that of the member under way; `undefined` before the first one. */
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

  constructor(text: string, nameItem: (index: number) => string) {
    this.#text = text;
    this.#nameItem = nameItem;
  }

  /** Takes the next token; gives the lexeme of a leaf when the token completes one. */
  step(token: Token): string | undefined {
    const isEmpty = this.#hasJustOpened;
    this.#hasJustOpened = token.kind === '{' || token.kind === '[';
    if (this.#hasJustOpened) return this.#open(token);
    if (token.kind === '}' || token.kind === ']') return this.#close(token, isEmpty);
    if (token.kind === ',') return this.#nextMember();
    if (token.kind === ':') return undefined;
    if (this.#expectsName) return this.#enter(token);
    return this.#text.slice(token.start, token.end);
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
    if (frame !== undefined) frame.name = stringValue(this.#text.slice(start, end));
    this.#expectsName = false;
  }
}
