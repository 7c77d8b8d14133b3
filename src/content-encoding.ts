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
  // The reader of the decoder gets the errors of both.
  yield* pipeline(all, await decoderOf(coding, first.value), () => undefined);
}

/** Loads zlib on demand, because the service rarely compresses. */
async function decoderOf(coding: string, [firstByte = 0]: Uint8Array): Promise<Transform> {
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
