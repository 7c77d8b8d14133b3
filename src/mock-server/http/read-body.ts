import type { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../../collected-bytes.ts';

/** The body of a request; of a longer one, its first bytes, one more than `mostBytes`. */
export async function readBody(incoming: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const body = new CollectedBytes();
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    body.add(chunk);
    if (body.length > mostBytes) break;
  }
  return body.bytes().subarray(0, mostBytes + 1);
}

/** Whether the headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
