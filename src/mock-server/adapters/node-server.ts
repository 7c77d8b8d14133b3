import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import * as z from 'zod';
import { LOOPBACK_ADDRESS } from '../../environment-proxy.ts';
import { onAbort } from '../../foreign-values.ts';
import { nextTurn, pause } from '../clock/event-loop.ts';
import { SERVER_CLOSED } from '../clock/response-delays.ts';
import {
  type Delivery,
  type HandleRequest,
  MAX_REQUEST_BODY_BYTES,
  type MockRequest,
  type MockResponse,
  piecesOf,
  type RequestSource,
} from '../http/message.ts';
import { hasBody, readBody } from '../http/parse-request.ts';
import { expected, strictObject, trueOrFalse, type ValueOf } from '../input/checked-input.ts';
import { invalidOption, MockServerError } from '../input/mock-server-error.ts';
import type { TlsOptions } from './tls-server.ts';

/** A server on a port. */
export interface ListeningServer extends AsyncDisposable {
  /** `http://127.0.0.1:41234`. With `tls`, it begins with `https://`, and a name in `host` replaces the address. */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  /** Closes every connection. Responses that are delayed or being sent are cut off. */
  close(): Promise<void>;
}

export const listenOptions = strictObject({
  /**
   * Port to listen on; 0 for any free port.
   * @default 0
   */
  port: expected('a whole number from 0 (any free port) to 65535', z.int().min(0).max(65_535)).default(0),
  /**
   * Address or host name to listen on. An IPv6 address may have the brackets of a URL.
   * @default '127.0.0.1'
   */
  host: expected('an address or a host name', z.string())
    .overwrite((host) => host.replace(/^\[(.*)\]$/, '$1'))
    .default('127.0.0.1'),
  /**
   * Allows a `host` that other machines can reach. Do not expose the mock to the internet.
   * @default false
   */
  allowRemote: trueOrFalse.default(false),
  /**
   * Serves https instead of http, with this certificate and its private key, as PEM.
   * @default http
   * @example { cert: readFileSync('cert.pem'), key: readFileSync('key.pem') }
   */
  tls: z.custom<TlsOptions>().optional(), // its errors show no key
});

export interface ListenOptions extends ValueOf<typeof listenOptions> {}

/** Where to listen. */
type ListenAddress = Readonly<z.output<typeof listenOptions>>;

/** Handles requests for the control panel and the admin API. Returns whether the request was one of them. */
export type HandleOwnPages = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

interface ServerContext {
  readonly handleRequest: HandleRequest;
  /** Called first; handles the requests that are not for the emulated service. */
  readonly handleOwnPages: HandleOwnPages;
}

/** Serves the mock over node:http. */
export async function listenHttp(options: ListenAddress, context: ServerContext): Promise<ListeningServer> {
  const { handleRequest, handleOwnPages } = context;
  const pending = new Set<Promise<void>>();
  const closing = new AbortController();
  const listener: RequestListener = (incoming, outgoing) => {
    if (handleOwnPages(incoming, outgoing)) return;
    const sending = receive(incoming, outgoing, { handleRequest, closing: closing.signal });
    if (sending === undefined) return;
    pending.add(sending);
    void sending.finally(() => pending.delete(sending));
  };
  const { tls } = options;
  const server =
    tls === undefined
      ? createServer(LIMITS, listener)
      : (await import('./tls-server.ts')).createTlsServer(tls, LIMITS, listener); // loaded only if it is used
  let hasWarned = false;
  server.on('connection', (socket) =>
    // Node.js responds to a request that is not valid HTTP, and destroys its connection with this error.
    socket.on('error', ({ rawPacket }: { readonly rawPacket?: Buffer }) => {
      if (hasWarned || rawPacket?.[0] !== TLS_HANDSHAKE) return;
      hasWarned = true; // a client of https cannot show the response
      process.emitWarning(NOT_HTTPS, { type: 'FxratesMockWarning', code: 'FXRATES_NOT_HTTPS' });
    }),
  );
  await listen(server, options);
  const close = () => {
    closing.abort(SERVER_CLOSED);
    return closeServer(server, pending);
  };
  const address = server.address() as AddressInfo;
  return { url: urlOf(address, options), port: address.port, close, [Symbol.asyncDispose]: close };
}

function urlOf({ address, port }: AddressInfo, { tls, host }: ListenAddress): string {
  // A certificate is valid for the name, and perhaps not for its address.
  if (tls !== undefined && host !== '' && isIP(host) === 0) return `https://${host}:${port}`;
  // A server on `::` accepts IPv4 too, and `::1` is missing where IPv6 is disabled on the loopback interface.
  const reachable = address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address;
  return `${tls === undefined ? 'http' : 'https'}://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`;
}

const NOT_HTTPS = 'This port serves http, and a request was https; use http://, or serve with a certificate.';
/** The first byte of https. */
const TLS_HANDSHAKE = 0x16;

/** In real time: they end connections of clients that hang, and do not emulate the service. */
const LIMITS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Interval at which Node.js checks the timeouts. With the default of 30 s, 10 s could take 40 s.
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
  // Two `Authorization` headers are joined, as in every other adapter.
  joinDuplicateHeaders: true,
};

/**
 * Responds synchronously if possible; otherwise returns a promise that resolves after the response and never rejects.
 * `closing` aborts when the server is closed, which ends the waits of rules.
 */
function receive(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { handleRequest, closing }: { readonly handleRequest: HandleRequest; readonly closing: AbortSignal },
): Promise<void> | undefined {
  const { method = 'GET', url = '/', headers, socket } = incoming;
  const { 'set-cookie': cookies } = headers;
  // Node.js has joined repeated headers, except this one, which no correct request has.
  const joined = cookies === undefined ? headers : { ...headers, 'set-cookie': cookies.join(', ') };
  const head = { method, target: url, headers: joined as MockRequest['headers'] };
  const source: RequestSource = {
    adapter: 'socket',
    getSignal() {
      return disconnectSignal({ outgoing, socket, closing });
    },
  };
  try {
    const response = hasBody(incoming)
      ? readBody(incoming, MAX_REQUEST_BODY_BYTES).then((body) => handleRequest({ ...head, body }, source))
      : handleRequest(head, source);
    if (response instanceof Promise || response.delivery !== undefined) {
      return sendLater(response, { outgoing, socket, closing });
    }
    sendResponse(response, outgoing);
  } catch (error) {
    // Uncaught, it would end the process with its other tests.
    process.emitWarning(error instanceof Error ? error : String(error), 'FxratesMockWarning');
    outgoing.destroy();
  }
  return undefined;
}

/** Aborts when the client disconnects or the server is closed. */
function disconnectSignal({ outgoing, socket, closing }: PendingResponse): AbortSignal {
  const disconnected = new AbortController();
  const stop = () => disconnected.abort(closing.reason);
  if (closing.aborted) stop();
  if (outgoing.destroyed || socket.destroyed) disconnected.abort();
  const unlisten = onAbort(closing, stop);
  const end = () => {
    unlisten();
    socket.off('close', end);
    disconnected.abort();
  };
  outgoing.once('close', end);
  // node:http does not close a pipelined response with its connection while the responses before it have not ended.
  socket.setMaxListeners(0).once('close', end); // one listener per waiting request, removed with it
  return disconnected.signal;
}

interface PendingResponse {
  readonly outgoing: ServerResponse;
  /** The connection, which `outgoing` releases at its end. */
  readonly socket: Socket;
  readonly closing: AbortSignal;
}

async function sendLater(coming: MockResponse | Promise<MockResponse>, pending: PendingResponse): Promise<void> {
  try {
    const response = await coming;
    if (response.delivery === undefined) sendResponse(response, pending.outgoing);
    else await deliverOverSocket(response, response.delivery, pending);
  } catch {
    // The client has disconnected, or the server was closed, while the request was read or the response was sent.
    pending.outgoing.destroy();
  }
}

function sendResponse(response: MockResponse, outgoing: ServerResponse): void {
  if (response.status === 413) outgoing.shouldKeepAlive = false;
  const { status, headers, body } = response;
  // ASCII text has the same bytes in both encodings, and node:http is faster with Latin-1.
  const isAscii = typeof body === 'string' && Number(headers['content-length']) === body.length;
  outgoing.sendDate = false;
  outgoing.writeHead(status, headers as OutgoingHttpHeaders).end(body, isAscii ? 'latin1' : 'utf8');
}

async function closeServer(server: Server, pending: ReadonlySet<Promise<void>>): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // Responses that are ready, and bytes that were just written, are still to be sent.
  await nextTurn();
  server.closeAllConnections();
  // Only now: some requests end with their connection, such as one whose body is incomplete.
  await Promise.all(pending);
  await closed;
  // A client in this process would reuse its connections until the next turn, when it notices that they are closed.
  await nextTurn();
}

/** Makes the server listen on the address and port of the options. */
async function listen(server: Server, { port, host, allowRemote }: ListenAddress): Promise<void> {
  if (!allowRemote && !LOOPBACK_ADDRESS.test(host)) {
    throw invalidOption('host', host, 'a loopback address such as 127.0.0.1; set allowRemote: true for others');
  }
  // Otherwise, the workers of a cluster would share the port, and each would receive requests for the others.
  server.listen({ port, host, exclusive: true });
  await once(server, 'listening').catch((error) => {
    throw readable(error, host, port);
  });
}

function readable(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new MockServerError(`Port ${port} of ${host} is in use; use port 0 for a free one.`, {
    code: 'port_in_use',
    cause: error,
  });
}

/** Sends a response as its delivery says, byte by byte as on a real network. */
async function deliverOverSocket(response: MockResponse, delivery: Delivery, pending: PendingResponse): Promise<void> {
  const { outgoing, socket } = pending;
  const { sendsHead, ending } = delivery;
  const { status, headers } = response;
  if (!sendsHead) return end(ending, socket);
  outgoing.sendDate = false;
  outgoing.writeHead(status, headers as OutgoingHttpHeaders).flushHeaders();
  const signal = disconnectSignal(pending);
  for await (const piece of piecesOf(response, delivery, signal))
    await written((done) => outgoing.write(piece, done), signal);
  if (ending === 'whole') return void outgoing.end();
  // The data must be sent before the connection is closed.
  await written((done) => socket.write('', done), signal);
  if (ending === 'reset') await untilRead();
  end(ending, socket);
}

function end(ending: Delivery['ending'], socket: Socket): void {
  if (ending === 'reset') {
    socket.resetAndDestroy();
    return;
  }
  if (ending === 'malformed-chunk') socket.write('this is no chunk size\r\n');
  socket.destroySoon();
}

/** Waits until the client has read the data: libuv treats a reset with unread data as an orderly end. */
async function untilRead(): Promise<void> {
  await pause(READ_MS);
  // A client in this process may read late on a busy machine.
  await nextTurn();
}

const READ_MS = 20;

/** Resolves when the system has the bytes, or the signal aborts: node:http does not report each write that failed. */
function written(write: (done: () => void) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) return done();
    signal.addEventListener('abort', done);
    write(done);
  });
}
