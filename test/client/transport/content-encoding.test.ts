import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { httpFetch } from '../../../src/cli/io/http-fetch.ts';
import { FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { respond, startRawServer } from '../../helpers/raw-server.ts';

const KEY = `fx_live_${'ab'.repeat(24)}`;
const TRANSPORTS = [
  ['the default transport', undefined],
  ['fetch', fetch],
  ['fetch of the CLI', httpFetch],
] as const;

/** Calls `latest` of a server that sends `body` with this content encoding. Returns also the requests that it received. */
async function callServer(encoding: string, body: Uint8Array | string, options: FxRatesOptions) {
  const headers = { 'content-encoding': encoding };
  const server = await startRawServer({ onRequest: ({ socket }) => respond(socket, { headers, body }) });
  await using fx = new FxRates({ baseUrl: server.url, apiKey: KEY, ...options });
  const outcome = await fx
    .latest()
    .withMeta()
    .then(
      ({ data, meta }) => ({ data, rawBody: meta.rawBody, error: undefined }),
      (error: unknown) => ({ data: undefined, rawBody: undefined, error }),
    );
  await server.close();
  return { ...outcome, requests: server.requests };
}

const DATA = '{"success":true,"data":{"EUR":1.10}}';

const LONG = JSON.stringify({ success: true, data: { text: 'a'.repeat(100_000) } });
const cut = (body: Uint8Array) => body.subarray(0, -12);

const CODED: readonly (readonly [string, Uint8Array | string])[] = [
  ['gzip', gzipSync(DATA)],
  ['GZIP', gzipSync(DATA)],
  ['deflate', deflateSync(DATA)],
  ['deflate', deflateRawSync(DATA)],
  ['br', brotliCompressSync(DATA)],
  ['identity', DATA],
  ['none', DATA],
  ['UTF-8', DATA],
  ['aws-chunked', DATA],
];

describe.each(TRANSPORTS)('with %s', (_, fetch) => {
  test.each(CODED)('decodes a body in %s, and asks for no encoding that it cannot read', async (encoding, body) => {
    const { data, rawBody, requests } = await callServer(encoding, body, { fetch });

    expect({ data, rawBody }).toEqual({ data: { EUR: 1.1 }, rawBody: DATA });
    const [, asked = ''] = /^accept-encoding: (.*)$/im.exec(String(requests[0])) ?? [];
    expect(['deflate, gzip', 'br, deflate, gzip']).toContain(asked.trim().split(', ').sort().join(', '));
  });

  test.each<[string, string, Uint8Array | string, FxRatesOptions, string]>([
    ['cut short in gzip', 'gzip', cut(gzipSync(DATA)), {}, expect.any(String)],
    ['cut short in deflate', 'deflate', cut(deflateSync(DATA)), {}, expect.any(String)],
    ['cut short in br', 'br', cut(brotliCompressSync(DATA)), {}, expect.any(String)],
    [
      'longer than maxResponseBytes after decompression',
      ...(['gzip', gzipSync(LONG)] as const),
      { maxResponseBytes: 10_000 },
      'The body is longer than 10000 bytes (HTTP 200); maxResponseBytes sets the limit',
    ],
    [
      'not compressed as its header says',
      ...(['gzip', DATA, {}] as const),
      'The body cannot be decoded: incorrect header check (HTTP 200); check baseUrl, and the server or proxy there',
    ],
    [
      'empty',
      'gzip',
      '',
      {},
      'The body is empty (HTTP 200, application/json); check baseUrl, and the server or proxy there',
    ],
  ])('a body that is %s is an error of the response, without a retry', async (_, encoding, body, options, message) => {
    const { error, requests } = await callServer(encoding, body, { fetch, ...options });

    expect(error).toMatchObject({ kind: 'response', status: 200, message });
    expect(requests).toHaveLength(1);
  });
});

/** `fetch` passes a body in an unknown encoding on. */
const DECODERS = TRANSPORTS.filter(([name]) => name !== 'fetch');

test.each(
  DECODERS.flatMap(([name, fetch]) =>
    ['zstd', 'gzip, gzip', 'constructor', '__proto__'].map((coding) => [name, coding, fetch] as const),
  ),
)('with %s, the unknown encoding %s is named, without a retry', async (_, coding, fetch) => {
  const { error, requests } = await callServer(coding, gzipSync(DATA), { fetch });

  const summary = `The body cannot be decoded: unknown content encoding '${coding}' (HTTP 200)`;
  expect(error).toMatchObject({ kind: 'response', summary });
  expect(requests).toHaveLength(1);
});
