import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
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

const CODED: readonly (readonly [string, Uint8Array | string])[] = [
  ['gzip', gzipSync(DATA)],
  ['x-gzip', gzipSync(DATA)],
  ['GZIP', gzipSync(DATA)],
  ['deflate', deflateSync(DATA)],
  ['deflate', deflateRawSync(DATA)],
  ['br', brotliCompressSync(DATA)],
  ['gzip, gzip', gzipSync(gzipSync(DATA))],
  ['deflate, br', brotliCompressSync(deflateSync(DATA))],
  ['identity', DATA],
];

describe.each(TRANSPORTS)('with %s', (_, fetch) => {
  test.each(CODED)('decodes a body in %s', async (encoding, body) => {
    const { data, meta } = await callServer(encoding, body, { fetch });

    expect(data).toEqual({ EUR: 1.1 });
    expect(meta.rawBody).toBe(DATA);
  });

  test.each([
    ['gzip', gzipSync(DATA)],
    ['deflate', deflateSync(DATA)],
    ['br', brotliCompressSync(DATA)],
  ])('a body in %s that is cut short is an error of the response, without a retry', async (encoding, body) => {
    const headers = { 'content-encoding': encoding };
    const cut = body.subarray(0, body.length - 12);
    const server = await startRawServer({ onRequest: ({ socket }) => respond(socket, { headers, body: cut }) });

    const error = await errorOf(new FxRates({ baseUrl: server.url, apiKey: KEY, fetch }).latest());
    await server.close();

    expect(error).toMatchObject({ kind: 'response', status: 200 });
    expect(server.requests).toHaveLength(1);
  });

  test('asks for no encoding that it cannot read', async () => {
    const server = await startRawServer({ onRequest: ({ socket }) => respond(socket, { body: DATA }) });

    await new FxRates({ baseUrl: server.url, apiKey: KEY, fetch }).latest();
    await server.close();

    const [, asked = ''] = /^accept-encoding: (.*)$/im.exec(String(server.requests[0])) ?? [];
    expect(asked.trim().split(', ').sort()).toEqual(expect.arrayContaining(['deflate', 'gzip']));
    expect(
      asked
        .trim()
        .split(', ')
        .filter((coding) => !['br', 'deflate', 'gzip'].includes(coding)),
    ).toEqual([]);
  });
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

test.each(TRANSPORTS.filter(([name]) => name !== 'fetch'))(
  'with %s, an unknown encoding is named',
  async (_, fetch) => {
    const error = await errorOf(callServer('zstd', gzipSync(DATA), { fetch }));

    const message = "The body cannot be decoded: unknown content encoding 'zstd' (HTTP 200)";
    expect(error).toMatchObject({ kind: 'response', message });
  },
);

test.each(TRANSPORTS)('with %s, an empty body has no content encoding', async (_, fetch) => {
  const error = await errorOf(callServer('gzip', '', { fetch }));

  expect(error).toMatchObject({ message: 'The body is not JSON (HTTP 200, application/json)' });
});
