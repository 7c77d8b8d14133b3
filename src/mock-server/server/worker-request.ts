import type { IncomingHttpHeaders } from 'node:http';
import { Worker } from 'node:worker_threads';

interface WorkerRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface WorkerResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Of `node:http`, in the other thread. */
interface WorkerFailure {
  readonly message: string;
  readonly code: string | undefined;
}

/** A message of the worker thread. */
type WorkerReply = { readonly id: number } & (
  | { readonly response: WorkerResponse; readonly failure?: never }
  | { readonly failure: WorkerFailure }
);

interface Pending {
  readonly resolve: (response: WorkerResponse) => void;
  readonly reject: (error: Error) => void;
}

const pending = new Map<number, Pending>();
let worker: Worker | undefined;
let lastId = 0;

/**
 * Sends a request from a worker thread, which starts at the first one. A test replaces `fetch`, or uses msw or nock, which
 * intercept all ways to send of its own thread; its requests to a mock in another process must arrive nevertheless.
 */
export function requestFromWorker(request: WorkerRequest): Promise<WorkerResponse> {
  worker ??= startWorker();
  lastId += 1;
  const id = lastId;
  worker.ref(); // the process waits for the response, and not for the thread
  worker.postMessage({ id, ...request });
  return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
}

function startWorker(): Worker {
  // Without the options of this process, such as hooks that transform modules or preload an interceptor.
  const started = new Worker(SOURCE, { eval: true, execArgv: [] });
  started.on('message', (reply: WorkerReply) => settle(reply, started));
  started.on('error', (error) => endAll(error instanceof Error ? error : new Error(String(error))));
  started.on('exit', () => endAll(new Error('The worker thread has ended.')));
  return started;
}

function settle({ id, ...reply }: WorkerReply, from: Worker): void {
  const waiting = pending.get(id);
  pending.delete(id);
  if (pending.size === 0) from.unref();
  if (reply.failure === undefined) waiting?.resolve(reply.response);
  else waiting?.reject(Object.assign(new Error(reply.failure.message), { code: reply.failure.code }));
}

/** The next request starts another thread. */
function endAll(error: Error): void {
  worker = undefined;
  for (const { reject } of pending.values()) reject(error);
  pending.clear();
}

/** CommonJS, as text, so that it is part of every bundle. */
const SOURCE = `
const { parentPort } = require('node:worker_threads');
const senders = { 'http:': require('node:http').request, 'https:': require('node:https').request };
parentPort.on('message', ({ id, url, method, headers, body }) => {
  const fail = ({ message, code }) => parentPort.postMessage({ id, failure: { message, code } });
  const outgoing = senders[new URL(url).protocol](url, { method, headers, agent: false }, (incoming) => {
    const chunks = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('error', fail);
    incoming.on('end', () => {
      const { statusCode: status, headers } = incoming;
      parentPort.postMessage({ id, response: { status, headers, text: Buffer.concat(chunks).toString() } });
    });
  });
  outgoing.on('error', fail);
  outgoing.end(body);
});
`;
