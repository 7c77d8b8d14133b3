import type { IncomingMessage } from 'node:http';

/** The body of a request; of a longer one, its first bytes, one more than `mostBytes`. */
export async function readBody(incoming: IncomingMessage, mostBytes: number): Promise<Buffer> {
  // One buffer that grows: a list of chunks of one byte each would take a hundred times the memory of the body.
  let bytes: Buffer = Buffer.alloc(FIRST_BYTES);
  let length = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    const part: Buffer = chunk;
    if (length + part.length > bytes.length) bytes = grown(bytes, length + part.length);
    length += part.copy(bytes, length);
    if (length > mostBytes) break;
  }
  return bytes.subarray(0, Math.min(length, mostBytes + 1));
}

const FIRST_BYTES = 4096;

function grown(bytes: Buffer, least: number): Buffer {
  const larger = Buffer.alloc(Math.max(least, 2 * bytes.length));
  bytes.copy(larger);
  return larger;
}

/** Whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
