import { isUtf8 } from 'node:buffer';
import { ResponseError } from '../errors/response-error.ts';

/** The text of a body of at most `maxBytes`. @throws ResponseError when it is longer, or not UTF-8 (RFC 8259 §8.1). */
export async function readBody(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new ResponseError(`The body is longer than ${maxBytes} bytes (maxResponseBytes)`);
    parts.push(chunk);
  }
  return decodeBody(Buffer.concat(parts, length));
}

function decodeBody(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ResponseError('The body is not UTF-8');
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('utf8', hasByteOrderMark ? 3 : 0);
}
