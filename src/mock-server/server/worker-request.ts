import type { IncomingHttpHeaders } from 'node:http';
import { MessageChannel, Worker } from 'node:worker_threads';

interface WorkerRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Milliseconds until the request fails with the code ETIMEDOUT. */
  readonly mostMs: number;
}

interface WorkerResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The message of the worker thread, with an error of its `node:http`. */
type WorkerReply =
  | { readonly response: WorkerResponse }
  | { readonly failure: { readonly message: string; readonly code: string | undefined } };

let worker: Worker | undefined;

/**
 * Sends a request from a worker thread, which starts at the first one. A test replaces `fetch`, or uses msw or nock, which
 * intercept all ways to send of its own thread; its requests to a mock in another process must arrive nevertheless.
 */
export function requestFromWorker(request: WorkerRequest): Promise<WorkerResponse> {
  worker ??= startWorker();
  const { port1: port, port2: sender } = new MessageChannel();
  worker.postMessage({ ...request, port: sender }, [sender]);
  // The process waits for a port with listeners, and not for the thread.
  return new Promise((resolve, reject) => {
    port.once('message', (reply: WorkerReply) => {
      if ('response' in reply) resolve(reply.response);
      else reject(Object.assign(new Error(reply.failure.message), { code: reply.failure.code }));
      port.close();
    });
    port.once('close', () => reject(new Error('The worker thread has ended.')));
  });
}

function startWorker(): Worker {
  // Without the options of this process, such as hooks that transform modules or preload an interceptor.
  const started = new Worker(SOURCE, { eval: true, execArgv: [] });
  const forget = () => {
    if (worker === started) worker = undefined; // the next request starts another thread
  };
  started.once('error', forget).once('exit', forget).unref();
  return started;
}

/** CommonJS, as text, so that it is part of every bundle. */
const SOURCE = `
const { parentPort } = require('node:worker_threads');
const senders = { 'http:': require('node:http').request, 'https:': require('node:https').request };
parentPort.on('message', ({ port, url, method, headers, body, mostMs }) => {
  const fail = ({ message, code }) => port.postMessage({ failure: { message, code } });
  const outgoing = senders[new URL(url).protocol](url, { method, headers, agent: false }, (incoming) => {
    const chunks = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('error', fail);
    incoming.on('end', () => {
      const { statusCode: status, headers } = incoming;
      port.postMessage({ response: { status, headers, text: Buffer.concat(chunks).toString() } });
    });
  });
  const timeout = setTimeout(() => {
    fail({ message: 'No response within ' + mostMs + ' ms', code: 'ETIMEDOUT' });
    outgoing.destroy();
  }, mostMs);
  outgoing.on('close', () => clearTimeout(timeout)).on('error', fail);
  outgoing.end(body);
});
`;
