import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  METHODS,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import * as z from 'zod';
import { LOOPBACK_ADDRESS } from '../../environment-proxy.ts';
import { onAbort, onAnyAbort } from '../../foreign-values.ts';
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
import { completed, type ErrorResponseOptions, errorResponse, reasonPhrase } from '../http/responses.ts';
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
  /** Provides the date of a response to a message that is not HTTP. */
  readonly now: () => number;
  /** Called first; handles the requests that are not for the emulated service. */
  readonly handleOwnPages: HandleOwnPages;
}

/** Serves the mock over node:http. */
export async function listenHttp(options: ListenAddress, context: ServerContext): Promise<ListeningServer> {
  const { handleRequest, now, handleOwnPages } = context;
  const pending = new Set<Promise<void>>();
  const closing = new AbortController();
  const lastResponses = new WeakMap<Duplex, ServerResponse>();
  const listener: RequestListener = (incoming, outgoing) => {
    lastResponses.set(incoming.socket, outgoing);
    // RFC 9112 §3.2: HTTP/1.1 requires a Host header.
    if (incoming.headers.host === undefined && incoming.httpVersion === '1.1')
      return sendResponse(brokenRequestResponse('NO_HOST', now()), outgoing);
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
  const refuse = (error: BrokenRequest, socket: Duplex) => {
    if (refuseBroken(error, socket, now()) !== 'TLS' || hasWarned) return;
    hasWarned = true; // a client of https cannot show the response
    process.emitWarning(NOT_HTTPS, { type: 'FxratesMockWarning', code: 'FXRATES_NOT_HTTPS' });
  };
  server.on('clientError', (error: BrokenRequest, socket) =>
    afterResponse(lastResponses.get(socket), socket, () => refuse(error, socket)),
  );
  server.on('connect', (_, socket) => {
    socket.on('error', () => undefined).resume(); // Node.js has removed its own listeners
    // It has also forgotten the connection, which a client may keep half open.
    socket.once(
      'close',
      onAnyAbort([closing.signal], () => socket.destroy()),
    );
    afterResponse(lastResponses.get(socket), socket, () => refuse({ code: 'CONNECT' }, socket));
  });
  // Node.js would respond without the error envelope.
  server.on('checkExpectation', (_, outgoing) => sendResponse(brokenRequestResponse('EXPECTATION', now()), outgoing));
  await listen(server, options);
  const close = () => {
    closing.abort(SERVER_CLOSED);
    return closeServer(server, pending);
  };
  const address = server.address() as AddressInfo;
  return { url: urlOf(address, options), port: address.port, close, [Symbol.asyncDispose]: close };
}

function urlOf({ address, family, port }: AddressInfo, { tls, host }: ListenAddress): string {
  // A certificate is valid for the name, and perhaps not for its address.
  if (tls !== undefined && host !== '' && isIP(host) === 0) return `https://${host}:${port}`;
  const reachable = REACHABLE[address] ?? address;
  return `${tls === undefined ? 'http' : 'https'}://${family === 'IPv6' ? `[${reachable}]` : reachable}:${port}`;
}

/** The address of this machine for a server that listens on all addresses. */
const REACHABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** In real time: they end connections of clients that hang, and do not emulate the service. */
const LIMITS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Interval at which Node.js checks the timeouts. With the default of 30 s, 10 s could take 40 s.
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
  // Two `Authorization` headers are joined, as in every other adapter.
  joinDuplicateHeaders: true,
  // The listener checks it, so that the response has the error envelope.
  requireHostHeader: false,
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

interface BrokenRequest {
  readonly code?: string | undefined;
  /** The bytes that node:http read last. */
  readonly rawPacket?: Buffer | undefined;
}

/** The code of node:http's error, or a more exact one if the bytes that it read last allow that. */
function refusalCodeOf({ code, rawPacket }: BrokenRequest): string | undefined {
  const read = rawPacket?.toString('latin1', 0, 16_384) ?? '';
  // The request line is not complete.
  if (read.startsWith('\x16\x03')) return 'TLS';
  if (read.startsWith('PRI * HTTP/2.0')) return 'HTTP2';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ \S*$/.test(read)) return 'LONG_TARGET';
  const [, method = 'GET'] = /^([A-Z]+) \S+ HTTP\/1\.[01]\r?\n/.exec(read) ?? [];
  // A known method: the bytes after the request are no request, such as the rest of a body that is longer than its length.
  if (code === 'HPE_INVALID_METHOD' && !METHODS.includes(method)) return 'UNKNOWN_METHOD';
  return code;
}

/** Sends the error envelope for a request that node:http cannot parse, or that took too long to arrive. Returns its code. */
function refuseBroken(error: BrokenRequest, socket: Duplex, now: number): string | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const code = refusalCodeOf(error);
  socket.end(brokenRequestText(code, now));
  return code;
}

/** Responses leave in the order of their requests. A request whose own body is broken gets no other response. */
function afterResponse(response: ServerResponse | undefined, socket: Duplex, refuse: () => void): void {
  const isOpen = response?.req.complete === true && !response.writableFinished && !response.destroyed;
  if (!isOpen) return refuse();
  response.once('close', () => {
    if (!socket.writableEnded) refuse(); // bytes that follow the broken ones are reported, too
  });
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

/** The text of the response to a message that is not HTTP. */
function brokenRequestText(errorCode: string | undefined, now: number): string {
  const { status, headers, body } = brokenRequestResponse(errorCode, now);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n${lines.join('')}\r\n${body}`;
}

/** The response to a request that does not reach the emulated service. */
function brokenRequestResponse(errorCode: string | undefined, now: number): MockResponse {
  return completed(errorResponse(REFUSALS[errorCode ?? ''] ?? NOT_HTTP), { method: 'GET', now });
}

const NOT_HTTPS = 'This port serves http, and the request is https; use http://, or serve with a certificate.';
const NOT_HTTP = { status: 400, code: 'bad_request', message: 'The request is not valid HTTP.' };

/** RFC 9110 §15.5.6: a 405 lists methods. */
const ALLOW_GET = { allow: 'GET' };

/** By the code of node:http's error. */
const REFUSALS: Readonly<Record<string, ErrorResponseOptions>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', message: 'The headers are larger than 16 KiB.' },
  UNKNOWN_METHOD: { status: 405, code: 'method_not_allowed', message: 'Unknown method.', headers: ALLOW_GET },
  LONG_TARGET: { status: 414, code: 'uri_too_long', message: 'The request target is longer than 16 KiB.' },
  NO_HOST: { status: 400, code: 'bad_request', message: 'The Host header is missing.' },
  EXPECTATION: { status: 417, code: 'expectation_failed', message: 'The only supported expectation is 100-continue.' },
  TLS: { status: 400, code: 'bad_request', message: NOT_HTTPS },
  HTTP2: { status: 400, code: 'bad_request', message: 'This server speaks HTTP/1.1, and the request is HTTP/2.' },
  CONNECT: { status: 405, code: 'method_not_allowed', message: 'This server is not a proxy.', headers: ALLOW_GET },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', message: 'The request took too long to arrive.' },
};
