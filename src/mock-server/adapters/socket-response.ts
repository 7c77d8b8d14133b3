import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { nextTurn, pause } from '../clock/event-loop.ts';
import { type Delivery, headersWithCookies, type MockResponse, piecesOf } from '../http/mock-message.ts';
import { completed, type ErrorResponseOptions, errorResponse, reasonPhrase } from '../http/responses.ts';

interface Outgoing {
  readonly outgoing: ServerResponse;
  /** The connection, which `outgoing` releases at its end. */
  readonly socket: Socket;
  readonly signal: AbortSignal;
}

/** Sends a response with the faults of its delivery, byte by byte as on a real network. */
export async function deliverOverSocket(
  response: MockResponse,
  delivery: Delivery,
  { outgoing, socket, signal }: Outgoing,
): Promise<void> {
  const { sendsHead, ending } = delivery;
  if (!sendsHead) return end(ending, socket);
  outgoing.sendDate = false;
  outgoing.writeHead(response.status, headersWithCookies(response)).flushHeaders();
  for await (const piece of piecesOf(response, delivery, signal)) await written((done) => outgoing.write(piece, done));
  if (ending === 'whole') return void outgoing.end();
  // The data must be sent before the connection is closed.
  await written((done) => socket.write('', done));
  if (ending === 'reset') await untilRead();
  end(ending, socket);
}

function end(ending: Delivery['ending'], socket: Socket): void {
  if (ending === 'reset') {
    socket.resetAndDestroy();
    return;
  }
  if (ending === 'malformed-chunk') socket.write('this is no chunk size\r\n');
  if (ending === 'garbage') socket.write('This is no HTTP.\r\n\r\n');
  socket.destroySoon();
}

/** Waits until the client has read the data: libuv treats a reset with unread data as an orderly end. */
async function untilRead(): Promise<void> {
  await pause(READ_MS);
  // A client in this process may read late on a busy machine.
  await nextTurn();
}

const READ_MS = 20;

/** Resolves when the system has the bytes, or the connection is closed. */
function written(write: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => write(() => resolve()));
}

/** The text of the response to a message that is not HTTP. */
export function brokenRequestText(errorCode: string | undefined, now: number): string {
  const { status, headers, body } = brokenRequestResponse(errorCode, now);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n${lines.join('')}\r\n${body}`;
}

/** The response to a request that does not reach the emulated service. */
export function brokenRequestResponse(errorCode: string | undefined, now: number): MockResponse {
  const refusal = REFUSALS[errorCode ?? ''] ?? {
    status: 400,
    code: 'bad_request',
    message: 'The request is not valid HTTP.',
  };
  return completed(errorResponse(refusal), 'GET', now);
}

/** RFC 9110 §15.5.6: a 405 lists methods. */
const ALLOW_GET = { allow: 'GET' };

/** By the code of node:http's error. */
const REFUSALS: Readonly<Record<string, ErrorResponseOptions>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', message: 'The headers are larger than 16 KiB.' },
  UNKNOWN_METHOD: { status: 405, code: 'method_not_allowed', message: 'Unknown method.', headers: ALLOW_GET },
  LONG_TARGET: { status: 414, code: 'uri_too_long', message: 'The request target is longer than 16 KiB.' },
  NO_HOST: { status: 400, code: 'bad_request', message: 'The Host header is missing.' },
  EXPECTATION: { status: 417, code: 'expectation_failed', message: 'The only supported expectation is 100-continue.' },
  CONNECT: { status: 405, code: 'method_not_allowed', message: 'This server is not a proxy.', headers: ALLOW_GET },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', message: 'The request took too long to arrive.' },
};
