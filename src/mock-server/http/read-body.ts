import type { IncomingMessage } from 'node:http';

/** The body of a request; of a longer one, its first bytes, one more than `mostBytes`. */
export async function readBody(incoming: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > mostBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, mostBytes + 1);
}
