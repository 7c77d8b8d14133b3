import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { httpFetch } from '../../../src/cli/request/connection.ts';
import { FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { respond, startRawServer } from '../../helpers/raw-server.ts';
import { errorOf } from '../../helpers/test-client.ts';

const KEY = `fx_live_${'ab'.repeat(24)}`;
const TRANSPORTS = [
  ['the default transport', undefined],
  ['fetch', fetch],
  ['the fetch of the command line', httpFetch],
] as const;

/** Calls `latest` of a server that sends `body` with this content encoding. */
async function callServer(encoding: string, body: Uint8Array | string, options: FxRatesOptions = {}) {
  const headers = { 'content-encoding': encoding };
  const server = await startRawServer({ onRequest: ({ socket }) => respond(socket, { headers, body }) });
  try {
    await using fx = new FxRates({ baseUrl: server.url, apiKey: KEY, maxRetries: 0, ...options });
    return await fx.latest().withMeta();
  } finally {
    await server.close();
  }
}

const DATA = '{"success":true,"data":{"EUR":1.10}}';

test.each([
  ['gzip', gzipSync(DATA)],
  ['x-gzip', gzipSync(DATA)],
  ['GZIP', gzipSync(DATA)],
  ['deflate', deflateSync(DATA)],
  ['br', brotliCompressSync(DATA)],
  ['identity', DATA],
])('the default transport decompresses a body in %s', async (encoding, body) => {
  const { data, meta } = await callServer(encoding, body);

  expect(data).toEqual({ EUR: 1.1 });
  expect(meta.rawBody).toBe(DATA);
});

test.each(TRANSPORTS)(
  'with %s, a body that is longer than maxResponseBytes after decompression is an error',
  async (_, fetch) => {
    const body = gzipSync(JSON.stringify({ success: true, data: { text: 'a'.repeat(100_000) } }));

    const error = await errorOf(callServer('gzip', body, { fetch, maxResponseBytes: 10_000 }));

    expect(body.byteLength).toBeLessThan(10_000);
    expect(error).toMatchObject({
      kind: 'response',
      message: 'The body is longer than 10000 bytes (maxResponseBytes) (HTTP 200)',
    });
  },
);

test.each(TRANSPORTS)(
  'with %s, a body that is not compressed as its header says is an error of the response',
  async (_, fetch) => {
    const error = await errorOf(callServer('gzip', DATA, { fetch }));

    expect(error).toMatchObject({
      kind: 'response',
      status: 200,
      message: 'The body cannot be decoded: incorrect header check (HTTP 200)',
    });
  },
);

test('an unknown content encoding is named', async () => {
  const error = await errorOf(callServer('zstd', gzipSync(DATA)));

  expect(error).toMatchObject({ message: "The client cannot decode the content encoding 'zstd' (HTTP 200)" });
});

test('an empty body has no content encoding', async () => {
  const error = await errorOf(callServer('gzip', ''));

  expect(error).toMatchObject({ message: 'The body is not JSON (HTTP 200, application/json)' });
});
