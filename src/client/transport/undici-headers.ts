import type { ResponseHeaders } from './transport.ts';

type RawHeader = Buffer | string | readonly (Buffer | string)[];

/**
 * Response headers as undici's parser gives them: name, value, name, value, … in bytes; interceptors make a list of the
 * values of one name. Read on demand only.
 */
export class UndiciHeaders implements ResponseHeaders {
  readonly #raw: readonly RawHeader[];

  constructor(raw: readonly RawHeader[]) {
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
    const raw = this.#raw[index] ?? '';
    return Array.isArray(raw) ? raw.map(textOf).join(', ') : textOf(raw as Buffer | string);
  }
}

function textOf(bytes: Buffer | string): string {
  return typeof bytes === 'string' ? bytes : bytes.toString('latin1');
}
