import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/**
 * Asks over plain sockets, one request at a time on each: a client library costs more than the servers measured here,
 * and would be all that is measured. Gives requests per second.
 */
export async function rawLoad(url: string, { keys, calls, connections }: RawLoad): Promise<number> {
  const { hostname, port } = new URL(url);
  let key = 0;
  const nextRequest = () => {
    key = (key + 1) % keys.length;
    return `GET /api/v1/latest?base=EUR HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${keys[key]}\r\n\r\n`;
  };
  const sockets = Array.from({ length: connections }, () => connect({ host: hostname, port: Number(port) }));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const startedAt = performance.now();
  await Promise.all(sockets.map((socket) => askOver(socket, Math.ceil(calls / connections), nextRequest)));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const socket of sockets) socket.destroy();
  return calls / seconds;
}

export interface RawLoad {
  readonly keys: readonly string[];
  readonly calls: number;
  readonly connections: number;
}

async function askOver(socket: Socket, calls: number, nextRequest: () => string): Promise<void> {
  let left = calls;
  let missingBytes = 0;
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      missingBytes = (missingBytes === 0 ? sizeOf(chunk) : missingBytes) - chunk.length;
      if (missingBytes > 0) return;
      left -= 1;
      if (left === 0) resolve();
      else socket.write(nextRequest());
    });
    socket.write(nextRequest());
  });
}

/** Of the whole answer that begins with this chunk. */
function sizeOf(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n');
  const head = chunk.toString('latin1', 0, end);
  if (!head.startsWith('HTTP/1.1 200 OK')) throw new Error(`Not served: ${head}`);
  return end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
}
