import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from './listen.ts';

export interface ConnectProxy {
  readonly url: string;
  /** Request lines such as `CONNECT rates.fxrates.test:443` and `GET http://…`, in order. */
  readonly requests: readonly string[];
  /** The decoded Proxy-Authorization of each request. */
  readonly credentials: readonly (string | undefined)[];
  /** Resolves when all clients have disconnected. */
  deserted(): Promise<void>;
  close(): Promise<void>;
}

/** A forward proxy on loopback. It connects to `port` of this machine for every host name. */
export async function startConnectProxy({ port }: { readonly port: number }): Promise<ConnectProxy> {
  const requests: string[] = [];
  const credentials: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage) => {
    requests.push(`${method} ${url}`);
    const [, encoded] = headers['proxy-authorization']?.split(' ') ?? [];
    credentials.push(encoded && Buffer.from(encoded, 'base64').toString());
  };
  const server = createServer((request, response) => {
    note(request);
    passOn(request, response, port);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    note(request);
    const target = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    target.on('error', () => client.destroy());
    client.on('error', () => target.destroy());
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests,
    credentials,
    async deserted() {
      await Promise.all(Array.from(sockets, (socket) => once(socket, 'close')));
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A plain-text request, whose target is the whole URL. */
function passOn(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { pathname, search } = new URL(request.url ?? '');
  const options = { port, path: pathname + search, headers: request.headers };
  sendRequest(options, (upstream) => {
    response.writeHead(upstream.statusCode ?? 502, upstream.headers);
    upstream.pipe(response);
  }).end();
}
