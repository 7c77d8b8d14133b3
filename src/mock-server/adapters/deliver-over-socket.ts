import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { nextTurn, pause } from '../clock/event-loop.ts';
import { type Delivery, type MockResponse, piecesOf } from '../http/mock-message.ts';

interface Outgoing {
  readonly outgoing: ServerResponse;
  /** The connection, which `outgoing` itself gives away at its end. */
  readonly socket: Socket;
  readonly gone: AbortSignal;
}

/** Sends an answer as faults make it arrive: byte for byte what the client sees on a real network. */
export async function deliverOverSocket(
  response: MockResponse,
  delivery: Delivery,
  { outgoing, socket, gone }: Outgoing,
): Promise<void> {
  const { sendsHead, ending } = delivery;
  if (!sendsHead) return end(ending, socket);
  outgoing.sendDate = false;
  outgoing.writeHead(response.status, headersFor(response, ending)).flushHeaders();
  for await (const piece of piecesOf(response, delivery, gone)) await written((done) => outgoing.write(piece, done));
  if (ending === 'whole') return void outgoing.end();
  // What was sent must have left before the connection is broken.
  await written((done) => socket.write('', done));
  if (ending === 'reset') await untilRead();
  end(ending, socket);
}

/** Without a length node:http sends chunks. */
function headersFor({ headers }: MockResponse, ending: Delivery['ending']): MockResponse['headers'] {
  if (ending !== 'malformed-chunk') return headers;
  const { 'content-length': _, ...others } = headers;
  return others;
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

/** libuv takes a reset that comes with data it has not read yet for an orderly end; so the data gets a head start. */
async function untilRead(): Promise<void> {
  await pause(READ_MS);
  // For a client in this process, whose turn may come late on a busy machine.
  await nextTurn();
}

const READ_MS = 20;

/** Resolves when the system has the bytes, or the connection is gone. */
function written(write: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => write(() => resolve()));
}
