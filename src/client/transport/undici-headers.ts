import type { ResponseHeaders } from './transport.ts';

/** Response headers as undici's parser gives them: name, value, name, value, … in bytes. Read on demand only. */
export class UndiciHeaders implements ResponseHeaders {
  readonly #raw: readonly (Buffer | string)[];

  constructor(raw: readonly (Buffer | string)[]) {
    this.#raw = raw;
  }

  get(name: string): string | undefined {
    let found: string | undefined;
    for (let index = 0; index + 1 < this.#raw.length; index += 2) {
      if (this.#raw[index]?.length !== name.length || this.#text(index).toLowerCase() !== name) continue;
      const value = this.#text(index + 1);
      found = found === undefined ? value : `${found}, ${value}`;
    }
    return found;
  }

  toHeaders(): Headers {
    const headers = new Headers();
    for (let index = 0; index + 1 < this.#raw.length; index += 2) {
      headers.append(this.#text(index), this.#text(index + 1));
    }
    return headers;
  }

  #text(index: number): string {
    const bytes = this.#raw[index] ?? '';
    return typeof bytes === 'string' ? bytes : bytes.toString('latin1');
  }
}
