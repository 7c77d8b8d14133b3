import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

/** A request as received, and its socket. */
export interface RawRequest {
  readonly socket: Socket;
  /** Request line and headers. */
  readonly head: string;
  /** 0 for the first request of the server. */
  readonly index: number;
}

export interface RawServer {
  readonly url: string;
  /** Heads of the received requests, in order. */
  readonly requests: readonly string[];
  readonly connections: () => number;
  /** Resolves when request number `index` has arrived. */
  arrived(index: number): Promise<void>;
  close(): Promise<void>;
}

export interface RawServerOptions {
  readonly onRequest?: (request: RawRequest) => void;
  /** Called instead of reading a request. */
  readonly onConnection?: (socket: Socket) => void;
}

/** A TCP server that sends exactly the given bytes, valid or not. */
export async function startRawServer({ onRequest, onConnection }: RawServerOptions): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const waiting: (() => void)[] = [];
  let connections = 0;

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined); // the client may disconnect
    if (onConnection !== undefined) return onConnection(socket);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        const head = received.slice(0, end);
        received = received.slice(end + 4);
        requests.push(head);
        for (const wake of waiting.splice(0)) wake();
        onRequest?.({ socket, head, index: requests.length - 1 });
      }
    });
  });
  const port = await listen(server);

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    async arrived(index) {
      while (requests.length <= index) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Resolves when the connection is closed, with or without an error. */
export function hangUp(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

interface RawResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | object;
}

/**
 * A well-formed HTTP/1.1 response that ends its connection. `body`: as JSON unless it is text or bytes. A header of the
 * same name replaces the usual one.
 */
export function respond(socket: Socket, { status = 200, headers = {}, body = '' }: RawResponse): void {
  const bytes = Buffer.from(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
  const all = {
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    connection: 'close',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`, 'latin1');
  socket.end(bytes);
}

/** Sends raw text to this machine, and returns everything received until the connection closes. */
export async function sendRaw({ port }: { readonly port: number }, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let response = '';
  socket.on('data', (chunk) => {
    response += chunk;
  });
  socket.on('error', () => undefined); // the server may close the connection before it has read everything
  socket.write(text);
  await once(socket, 'close');
  return response;
}
