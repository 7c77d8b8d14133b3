import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import { ACCEPTED_ENCODINGS, decoded } from '../../body-bytes.ts';
import type { FetchLike } from '../../client/index.ts';

/**
 * Sends over `node:http`. The built-in `fetch` does the same, but loading it and its parser takes longer than all other
 * work of a command. Does not follow redirects.
 */
export const httpFetch: FetchLike = async (url, { method, headers, signal }) => {
  const protocol = url.startsWith('https:') ? 'https' : 'http';
  const http = protocol === 'https' ? await import('node:https') : await import('node:http');
  agents[protocol] ??= new http.Agent(OF_AGENT);
  const agent = agents[protocol];
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      agent,
      method,
      headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
      signal,
    });
    request.once('response', (message) => {
      const { statusCode: status = 0, statusMessage: statusText = '', headersDistinct } = message;
      resolve(asResponse({ status, statusText, headers: headersDistinct, body: message }));
    });
    // Without a listener, node:http closes the connection after a 101, and emits nothing.
    request.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('the server sent 101 Switching Protocols unasked'));
    });
    // Also after the response, if the connection breaks.
    request.on('error', reject);
    request.end();
  });
};

/** As the global agents, but with more time for each address of a host, as in client/transport/undici-transport.ts. */
const OF_AGENT = { keepAlive: true, timeout: 5_000, autoSelectFamilyAttemptTimeout: 500 };

/** With NODE_USE_ENV_PROXY, the global agents of Node.js send through a proxy, also to this machine. */
const agents: { http?: Agent; https?: Agent } = {};

interface ReceivedMessage {
  readonly status: number;
  readonly statusText: string;
  readonly headers: ReceivedHeaders;
  readonly body: Readable;
}

/** It has the fields of a `Response` that the callers read. Its body is decompressed. */
export function asResponse({ status, statusText, headers: received, body: sent }: ReceivedMessage): Response {
  const headers = headersOf(received);
  const encoding = headers.get('content-encoding');
  const body = encoding === null ? sent : decodedBody(sent, encoding);
  const text = async () => (await import('node:stream/consumers')).text(body);
  return { status, statusText, headers, body, text } as unknown as Response;
}

/** A reader that has enough closes the connection, as without an encoding. */
async function* decodedBody(body: Readable, encoding: string): AsyncGenerator<Uint8Array> {
  try {
    yield* decoded(body, encoding);
  } finally {
    body.destroy();
  }
}

type ReceivedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

function headersOf(received: ReceivedHeaders): Pick<Headers, 'get' | 'has'> & Iterable<readonly [string, string]> {
  const names = Object.keys(received).sort();
  const values = new Map(names.map((name) => [name, [received[name] ?? ''].flat().join(', ')]));
  return {
    get: (name) => values.get(name.toLowerCase()) ?? null,
    has: (name) => values.has(name.toLowerCase()),
    [Symbol.iterator]: () => values.entries(),
  };
}
