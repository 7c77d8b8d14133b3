import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { LATEST } from './servers.ts';

export interface RawLoad {
  readonly keys: readonly string[];
  readonly connections: number;
  readonly ms: number;
}

/**
 * Sends requests over plain sockets, one at a time on each. A client library would cost more than the servers that are
 * measured. Returns responses per second.
 */
export async function rawLoad(url: string, { keys, connections, ms }: RawLoad): Promise<number> {
  const { hostname, port } = new URL(url);
  let key = 0;
  const nextRequest = () => {
    key = (key + 1) % keys.length;
    return `GET ${LATEST} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${keys[key]}\r\n\r\n`;
  };
  const sockets = Array.from({ length: connections }, () => connect({ host: hostname, port: Number(port) }));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const polling = new AbortController();
  poll(polling.signal);
  const startedAt = performance.now();
  const responses = await Promise.all(sockets.map((socket) => askOver(socket, startedAt + ms, nextRequest)));
  const seconds = (performance.now() - startedAt) / 1000;
  polling.abort();
  for (const socket of sockets) socket.destroy();
  return responses.reduce((sum, count) => sum + count, 0) / seconds;
}

/**
 * Keeps this process awake. A server that writes to a sleeping process also wakes it, which takes about 3 µs per
 * response, and the slower of two servers does that more often.
 */
function poll(signal: AbortSignal): void {
  if (!signal.aborted) setImmediate(poll, signal);
}

/** Returns the number of responses up to and including the first one at or after `endsAt`. */
async function askOver(socket: Socket, endsAt: number, nextRequest: () => string): Promise<number> {
  let responses = 0;
  let missingBytes = 0;
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The server hung up.')));
    const receive = (chunk: Buffer) => {
      missingBytes = (missingBytes === 0 ? sizeOf(chunk) : missingBytes) - chunk.length;
      if (missingBytes > 0) return;
      responses += 1;
      if (performance.now() >= endsAt) resolve(responses);
      else socket.write(nextRequest());
    };
    socket.on('data', (chunk: Buffer) => {
      try {
        receive(chunk);
      } catch (error) {
        reject(error); // thrown by a listener, it would end this process before the servers
      }
    });
    socket.write(nextRequest());
  });
}

/** Size of the whole response that begins with this chunk. */
function sizeOf(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n');
  const head = chunk.toString('latin1', 0, end);
  const [, length] = /content-length: (\d+)/i.exec(head) ?? [];
  if (!head.startsWith('HTTP/1.1 200 OK') || length === undefined) throw new Error(`Not served: ${head}`);
  return end + 4 + Number(length);
}
