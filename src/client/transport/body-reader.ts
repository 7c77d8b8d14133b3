import { isUtf8 } from 'node:buffer';

/** A body as text, or why it cannot be taken; what the response means can still be told by its status. */
export interface ReadBody {
  readonly text: string;
  readonly problem: string | undefined;
}

/** Collects the chunks of a body that may not grow beyond a limit. */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False when the body is too long, and the rest need not be read. */
  add(chunk: Uint8Array): boolean {
    this.#length += chunk.byteLength;
    if (this.#length > this.#maxBytes) return false;
    this.#chunks.push(chunk);
    return true;
  }

  end(): ReadBody {
    if (this.#length > this.#maxBytes) {
      return { text: '', problem: `The body is longer than ${this.#maxBytes} bytes (maxResponseBytes)` };
    }
    const bytes = Buffer.concat(this.#chunks, this.#length);
    if (!isUtf8(bytes)) return { text: '', problem: 'The body is not UTF-8' }; // RFC 8259 §8.1
    const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return { text: bytes.toString('utf8', hasByteOrderMark ? 3 : 0), problem: undefined };
  }
}
