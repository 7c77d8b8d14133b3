import { pipeline, type Transform } from 'node:stream';
import { codeOf, isError } from './foreign-values.ts';

/** The content codings that `decoded` reads, for the header `accept-encoding`. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** As in browsers. Each coding of a body has a decoder of its own. */
const MOST_CODINGS = 5;

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * A body without the codings of its `content-encoding`, such as `gzip` or `deflate, gzip` (RFC 9110 §8.4). Throws an error
 * for which `isDecodingError` is true if the body is damaged, cut short, or in another coding.
 */
export async function* decoded(body: Bytes, contentEncoding: string): AsyncIterable<Uint8Array> {
  let bytes = body;
  const codings = codingsIn(contentEncoding);
  if (codings.length > MOST_CODINGS) {
    const problem = `content-encoding names ${codings.length} codings, at most ${MOST_CODINGS} are read`;
    throw Object.assign(new Error(problem), { code: 'ERR_UNKNOWN_CODING' });
  }
  for (const coding of codings.reverse()) bytes = withoutCoding(bytes, coding);
  yield* bytes;
}

/** In the order in which they were applied. */
function codingsIn(contentEncoding: string): string[] {
  const codings = contentEncoding.toLowerCase().split(',');
  return codings.map((coding) => coding.trim()).filter((coding) => coding !== '' && coding !== 'identity');
}

/** An empty body has no coding, whatever its header says. */
async function* withoutCoding(body: Bytes, coding: string): AsyncIterable<Uint8Array> {
  const chunks = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  const first = await chunks.next();
  if (first.done) return;
  const all = async function* () {
    yield first.value;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  };
  const decoder = await decoderOf(coding, first.value);
  // The reader of the decoder gets the errors of both.
  yield* decoder === undefined ? all() : pipeline(all, decoder, () => undefined);
}

/** First bytes of JSON, a page or a byte order mark. */
const STARTS_OF_TEXT: Uint8Array = Buffer.from(' \t\r\n{["<\uFEFF');

/** Loads zlib on demand, because the service rarely compresses. `undefined` for plain text. */
async function decoderOf(coding: string, [firstByte = 0]: Uint8Array): Promise<Transform | undefined> {
  const zlib = await import('node:zlib');
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip();
    case 'deflate':
      // Some servers leave out the header of zlib, whose first byte ends with the method 8 (RFC 1950).
      return (firstByte & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
    case 'br':
      return zlib.createBrotliDecompress();
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
  if (!isError(error)) return false;
  return DECODER_CODES.test(codeOf(error) ?? '') || isDecodingError(error.cause);
}
