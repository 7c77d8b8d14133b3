import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CollectedBytes } from '../../../src/body-bytes.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { fetchTransport, headerIn, type TransportRequest, textBody } from '../../../src/client/transport/transport.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { fakeFetch } from '../../helpers/fake-fetch.ts';
import { errorOf, testClient } from '../../helpers/test-client.ts';

function requestWith(changes: Partial<TransportRequest> = {}): TransportRequest {
  const cancellation = new Cancellation();
  return { url: 'https://fx.test/a', headers: {}, cancellation, maxBytes: 1000, ...changes };
}

test('calls fetch with a GET that follows no redirect, and with headers that fetch may change', async () => {
  const headers = { accept: 'application/json' };
  const fetch = fakeFetch({ status: 418, headers: { 'x-note': 'tea' }, body: 'short and stout' });

  const response = await fetchTransport(fetch)(requestWith({ headers }));

  const [sent] = fetch.requests;
  expect(sent).toEqual({
    url: 'https://fx.test/a',
    method: 'GET',
    redirect: 'manual',
    headers,
    signal: expect.any(AbortSignal),
  });
  expect(sent?.headers).not.toBe(headers);
  expect(response).toMatchObject({ status: 418, rawBody: 'short and stout', problem: undefined });
  expect(headerIn(response.headers, 'x-note')).toBe('tea');
  expect(headerIn(response.headers, 'x-other')).toBeUndefined();
});

test('reads headers of any implementation: names in any case, and values that are no texts', async () => {
  const headers = new Map<string, unknown>(Object.entries({ 'Retry-After': '7', 'X-Count': 3 }));
  const response = { status: 429, headers, body: null } as unknown as Response;
  const { fx } = testClient([], { fetch: async () => response, onLimit: 'throw' });

  expect(await errorOf(fx.latest())).toMatchObject({ kind: 'rate_limited', retryAfterMs: 7_000 });
});

test('a middleware that returns a body of texts is a wrong option', async () => {
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue('{}');
      controller.close();
    },
  });
  const { fx } = testClient([], { middleware: [async () => new Response(body)] });

  const message = expect.stringMatching(/^middleware: expected it to return a Response .* got a stream with '{}'/);
  expect(await errorOf(fx.latest())).toMatchObject({ kind: 'config', message });
});

const used = new Response('{}');
await used.text();
const locked = new Response('{}');
locked.body?.getReader();

test.each([
  ['undefined', undefined, 'got undefined'],
  ['a string', '{}', "got '{}'"],
  ['parsed JSON', { success: true, data: {} }, 'got an object'],
  ['headers that are a plain object', { status: 200, headers: {}, body: null }, 'got an object'],
  ['a body that is a string', { status: 200, headers: new Headers(), body: '{}' }, 'got an object'],
  [
    'headers without an iterator',
    { status: 200, headers: { get: () => null }, body: null },
    'headers with get() and an iterator',
  ],
  [
    'a body of texts',
    { status: 200, headers: new Headers(), body: Readable.from(['{"success":', 'true}']) },
    "got a stream with '{",
  ],
  [
    'a body of objects',
    { status: 200, headers: new Headers(), body: Readable.from([{}]) },
    'got a stream with an object',
  ],
  ['an object without a body', { status: 200, headers: new Headers() }, 'got an object'],
  ['a response that was read', used, 'whose body nothing has read'],
  ['a response that a reader has locked', locked, 'whose body nothing has read or locked'],
  ['a network error', Response.error(), 'got Response (object) with status 0'],
  [
    'a redirect that cannot be read',
    { status: 0, type: 'opaqueredirect', headers: new Headers(), body: null },
    ' with status 0',
  ],
])('a fetch that returns %s is a wrong option', async (_, returned, got) => {
  let calls = 0;
  const fetch = async () => {
    calls += 1;
    return returned as Response;
  };
  const { fx, clock } = testClient([], { fetch });

  const error = await errorOf(clock.run(fx.latest()));

  expect(error).toMatchObject({ kind: 'config', message: expect.stringMatching(/^fetch: expected/) });
  expect(String(error)).toContain(got);
  expect(calls).toBe(1);
});

test('the body of a cancelled request is read to its next chunk only if fetch ignores a signal', async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled += 1;
        if (pulled === 3) cancellation.cancel(new Error('enough'));
        controller.enqueue(new Uint8Array(1));
        if (pulled === 100) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const cancellation = new Cancellation();

  const response = fetchTransport(async () => new Response(endless))(requestWith({ cancellation }));

  await expect(response).rejects.toThrow('enough');
  await quiet();
  expect(pulled).toBe(3);
});

/** The bytes in chunks that end at `cuts`, each a part of one buffer, as a socket delivers them. */
function chunksOf(whole: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const buffer = Uint8Array.from([0xff, ...whole, 0xff]);
  const ends = [...cuts.map((cut) => cut % (whole.length + 1)), whole.length].sort((a, b) => a - b);
  return ends.map((end, index) => buffer.subarray(1 + (ends[index - 1] ?? 0), 1 + end));
}

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('a', '"', '\n'), fc.constantFrom('é', '€', '😀', '\ufeff')),
});
const anyBytes = fc.oneof(
  anyText.map((some) => Buffer.from(some)),
  fc
    .tuple(fc.string({ maxLength: 20 }), fc.uint8Array({ maxLength: 3 }))
    .map(([some, end]) => Buffer.concat([Buffer.from(some), end])),
);

test('any bytes in any chunks are decoded as the WHATWG decoder does, or are not UTF-8', () => {
  fc.assert(
    fc.property(anyBytes, fc.array(fc.nat(), { maxLength: 4 }), (whole, cuts) => {
      const body = new CollectedBytes();

      for (const chunk of chunksOf(whole, cuts)) body.add(chunk);

      expect(textBody(body, 1000)).toEqual(decoded(whole));
    }),
    { numRuns: 300 },
  );
});

function decoded(whole: Uint8Array): { readonly rawBody: string; readonly problem: string | undefined } {
  try {
    return { rawBody: new TextDecoder('utf-8', { fatal: true }).decode(whole), problem: undefined };
  } catch {
    return { rawBody: Buffer.from(whole).toString('latin1'), problem: 'The body is not UTF-8' };
  }
}
