import { pipeline, type Transform } from 'node:stream';
import { causesOf, codeOf } from './foreign-values.ts';

const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Collects the chunks of a body. The only chunk of a short body is not copied. Several are copied into one buffer: a list of
 * chunks of one byte takes a hundred times their bytes.
 */
export class CollectedBytes {
  #buffer = EMPTY;
  /** Number of bytes so far. */
  length = 0;

  add(chunk: Uint8Array): void {
    const length = this.length + chunk.byteLength;
    if (this.length === 0 && Buffer.isBuffer(chunk)) this.#buffer = chunk;
    else this.#append(chunk, length);
    this.length = length;
  }

  /** A chunk that was not copied is full, so nothing is written into it. */
  #append(chunk: Uint8Array, length: number): void {
    if (length > this.#buffer.byteLength) {
      const larger = Buffer.allocUnsafe(this.length === 0 ? length : 2 * length);
      larger.set(this.bytes());
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.length);
  }

  /** All bytes so far, not copied. */
  bytes(): Buffer {
    return this.length === this.#buffer.byteLength ? this.#buffer : this.#buffer.subarray(0, this.length);
  }
}

/** The content codings that `decoded` reads, for the header `accept-encoding`. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

type Zlib = typeof import('node:zlib');

/** The two ways in which zlib decodes a body: in pieces and in another thread, or the complete one in this thread. */
interface Decoder {
  readonly stream: () => Transform;
  readonly sync: (body: Uint8Array) => Uint8Array;
}

/**
 * A body without its `content-encoding`, such as `gzip` (RFC 9110 §8.4). Throws an error for which `isDecodingError` is true
 * if the body is damaged, cut short, or in another coding or several. With `zlib`, it decodes the complete body in this
 * thread: a virtual clock waits neither for another one nor for the loader of a module. An empty body has no coding, whatever
 * its header says.
 */
export async function* decoded(body: Bytes, contentEncoding: string, zlib?: Zlib): AsyncIterable<Uint8Array> {
  const chunks = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  const first = await chunks.next();
  if (first.done) return;
  const all = async function* () {
    yield first.value;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  };
  // Loaded on demand, because the service rarely compresses.
  const decoder = decoderOf(contentEncoding, first.value, zlib ?? (await import('node:zlib')));
  if (decoder === undefined) yield* all();
  else if (zlib !== undefined) yield decoder.sync(await collected(all()));
  // The reader of the decoder gets the errors of both.
  else yield* pipeline(all, decoder.stream(), () => undefined);
}

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const body = new CollectedBytes();
  for await (const chunk of chunks) body.add(chunk);
  return body.bytes();
}

/** First bytes of JSON, a page or a byte order mark. */
const STARTS_OF_TEXT: Uint8Array = Buffer.from(' \t\r\n{["<\uFEFF');

/** `undefined` for plain text. */
function decoderOf(coding: string, [firstByte = 0]: Uint8Array, zlib: Zlib): Decoder | undefined {
  switch (coding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
      return { stream: zlib.createGunzip, sync: zlib.gunzipSync };
    case 'deflate':
      // Some servers leave out the header of zlib, whose first byte ends with the method 8 (RFC 1950).
      return (firstByte & 0x0f) === 8
        ? { stream: zlib.createInflate, sync: zlib.inflateSync }
        : { stream: zlib.createInflateRaw, sync: zlib.inflateRawSync };
    case 'br':
      return { stream: zlib.createBrotliDecompress, sync: zlib.brotliDecompressSync };
    default:
      // Servers send `none`, `utf-8` and other names that are no codings with a text that is not encoded.
      if (STARTS_OF_TEXT.includes(firstByte)) return undefined;
      throw Object.assign(new Error(`unknown content encoding '${coding}'`), { code: 'ERR_UNKNOWN_CODING' });
  }
}

/** Codes of zlib, of its brotli decoder and of this file. */
const DECODER_CODES = /^(Z_|ERR__|ERR_BROTLI|ERR_UNKNOWN_CODING)/;

/** Whether reading a body failed because of its bytes, and not because of the connection. `fetch` has that error as the cause. */
export function isDecodingError(error: unknown): boolean {
  return causesOf(error).some((cause) => DECODER_CODES.test(codeOf(cause) ?? ''));
}
