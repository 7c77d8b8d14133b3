import { isUtf8 } from 'node:buffer';
import type { Cancellation } from '../cancellation.ts';

/** What goes onto the wire. Only transports and `authenticate` see a URL or headers with the key in them. */
export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cancellation: Cancellation;
  /** Longest body that is read, in bytes. */
  readonly maxBytes: number;
}

/** A response, read to its end unless there was a problem with its body. */
export interface TransportResponse extends ReadBody {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** Response headers; a `Headers` object is built only for whoever wants one, because building it costs more than the call's own work. */
export interface ResponseHeaders {
  get(name: string): string | undefined;
  toHeaders(): Headers;
}

/** Sends one request. Rejects when no whole response arrived. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

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
