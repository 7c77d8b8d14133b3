import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { FetchLike } from '../../client/index.ts';
import { environmentProxy, proxyDispatcher } from '../../environment-proxy.ts';
import { CliError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';

/** A fetch for one service. `close` ends its connections, which would keep the process running. */
export interface Connection {
  readonly fetch: FetchLike;
  readonly close: () => Promise<void>;
}

/**
 * A fetch for `baseUrl`: the one of `Io`, or undici's through the proxy of the environment. undici is loaded
 * for a proxy only, and its own fetch is used because the built-in one belongs to another version.
 */
export async function openConnection({ env, fetch }: Pick<Io, 'env' | 'fetch'>, baseUrl: string): Promise<Connection> {
  const proxy = environmentProxy(env, baseUrl);
  if (proxy === undefined) return { fetch, close: async () => undefined };
  const { variable, problem } = proxy;
  if (problem !== undefined) throw unusableProxy(`${variable} ${problem}`);
  const undici = await import('undici');
  const dispatcher = proxyDispatcher(undici, proxy);
  return {
    // The two Response types describe the same class of the standard.
    fetch: (target, init) => undici.fetch(target, { ...init, dispatcher }) as unknown as Promise<Response>,
    close: () => dispatcher.destroy(),
  };
}

function unusableProxy(what: string): CliError {
  return new CliError(what, {
    code: 'unusable_proxy',
    exitCode: exitCodes.config,
    hints: ['e.g. http://proxy.example:3128'],
  });
}

/**
 * Sends over `node:http`. The built-in `fetch` does the same, but loading it and its parser takes longer than all other
 * work of a command. Does not follow redirects.
 */
export const httpFetch: FetchLike = (url, { method, headers, signal }) =>
  new Promise((resolve, reject) => {
    const options = { method, headers: { 'accept-encoding': 'gzip, deflate, br', ...headers }, signal };
    const request = url.startsWith('https:') ? requestHttps(url, options) : requestHttp(url, options);
    // It has the fields of a `Response` that the callers read.
    request.once('response', (message) => resolve(new HttpResponse(message) as unknown as Response));
    request.on('error', reject); // also after the response, if the connection breaks
    request.end();
  });

class HttpResponse implements Pick<Response, 'status' | 'statusText' | 'text'> {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HttpHeaders;
  /** Decompressed. */
  readonly body: AsyncIterable<Uint8Array>;

  constructor(message: IncomingMessage) {
    this.status = message.statusCode ?? 0;
    this.statusText = message.statusMessage ?? '';
    this.headers = new HttpHeaders(message.headersDistinct);
    this.body = decompressed(message);
  }

  async text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }
}

/** Response headers, read as from a `Headers` object. */
class HttpHeaders implements Pick<Headers, 'get' | 'has'>, Iterable<readonly [string, string]> {
  readonly #values: IncomingMessage['headersDistinct'];

  constructor(values: IncomingMessage['headersDistinct']) {
    this.#values = values;
  }

  get(name: string): string | null {
    return this.#values[name.toLowerCase()]?.join(', ') ?? null;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#values, name.toLowerCase());
  }

  *[Symbol.iterator](): Iterator<readonly [string, string]> {
    for (const name of Object.keys(this.#values).sort()) yield [name, this.get(name) ?? ''];
  }
}

const DECODERS = new Map<string, () => NodeJS.ReadWriteStream & AsyncIterable<Uint8Array>>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
]);

function decompressed(message: IncomingMessage): AsyncIterable<Uint8Array> {
  const encoding = message.headers['content-encoding']?.toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return message;
  const decoder = DECODERS.get(encoding)?.();
  if (decoder === undefined) return message.destroy(unknownEncoding(encoding));
  // The reader of the decoder gets an error of either stream.
  return pipeline(message, decoder, () => undefined);
}

/** With the code of a decoder's error, so that the client reports the body and does not retry. */
function unknownEncoding(encoding: string): Error {
  return Object.assign(new Error(`unknown content encoding '${encoding}'`), { code: 'Z_DATA_ERROR' });
}
