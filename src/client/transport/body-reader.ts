import { isUtf8 } from 'node:buffer';
import { ResponseError } from '../errors/response-error.ts';

/** Collects the chunks of a body that may not grow beyond a limit. */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws ResponseError when the body is longer than allowed. */
  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    if (this.#length > this.#maxBytes) {
      throw new ResponseError(`The body is longer than ${this.#maxBytes} bytes (maxResponseBytes)`);
    }
    this.#chunks.push(chunk);
  }

  /** @throws ResponseError when the body is not UTF-8 (RFC 8259 §8.1). */
  text(): string {
    const bytes = Buffer.concat(this.#chunks, this.#length);
    if (!isUtf8(bytes)) throw new ResponseError('The body is not UTF-8');
    const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return bytes.toString('utf8', hasByteOrderMark ? 3 : 0);
  }
}
