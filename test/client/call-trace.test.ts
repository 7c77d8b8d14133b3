import { tracingChannel } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, expect, test } from 'vitest';
import type { CallTrace, FxRatesError } from '../../src/client/index.ts';
import { readDocument } from '../helpers/document.ts';
import { API_KEY, failure, rateLimited, success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

const channel = tracingChannel<unknown, CallTrace>('fxrates:call');
const heard: [string, CallTrace][] = [];
const hear = (name: string) => (call: CallTrace) => void heard.push([name, { ...call }]);
const subscribers = {
  ...{ start: hear('start'), end: hear('end'), asyncStart: hear('asyncStart') },
  ...{ asyncEnd: hear('asyncEnd'), error: hear('error') },
};

afterEach(() => {
  channel.unsubscribe(subscribers);
  heard.length = 0;
});

test('publishes the start and the end of a call, with attempts, waits and limits', async () => {
  channel.subscribe(subscribers);
  const { fx, clock } = testClient([failure(503), rateLimited('2'), success({ EUR: 1 })]);

  expect(await clock.run(fx.latest({ base: 'EUR' }))).toEqual({ EUR: 1 });

  expect(heard.map(([name]) => name)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
  const about = { operation: 'latest', target: '/api/v1/latest?base=EUR' };
  expect(heard[0]?.[1]).toEqual(about);
  expect(heard[3]?.[1]).toMatchObject({
    ...{ ...about, key: 'fx_live_…cdef', status: 200, source: 'network' },
    attempts: [{ status: 503 }, { status: 429, reason: 'retry' }, { status: 200, reason: 'rate_limited' }],
    limits: { waiting: 0, window: expect.any(String) },
  });
});

test('publishes an error before the end', async () => {
  channel.subscribe(subscribers);
  const { fx } = testClient(failure(404));

  const error = await errorOf(fx.latest());

  expect(heard.map(([name]) => name)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
  expect(heard[4]?.[1]).toMatchObject({ status: 404, attempts: [{ status: 404 }], error: { kind: 'request' } });
  expect(error).toMatchObject({ kind: 'request' });
});

test('publishes a call whose key is not known yet, or never', async () => {
  channel.subscribe(subscribers);
  const keys = [Promise.reject(new Error('no vault')), Promise.resolve(API_KEY)];
  const { fx } = testClient(success(), { apiKey: () => keys.shift() ?? API_KEY });

  expect(await errorOf(fx.latest())).toEqual(new Error('no vault'));
  await fx.latest();

  const ended = heard.filter(([name]) => name === 'asyncEnd').map(([, { operation, key }]) => ({ operation, key }));
  expect(ended).toEqual([
    { operation: 'latest', key: undefined },
    { operation: 'latest', key: 'fx_live_…cdef' },
  ]);
});

test('the trace ends with the callId that is in the meta or the error', async () => {
  channel.subscribe(subscribers);
  const { fx } = testClient([success(), failure(404)]);

  const { meta } = await fx.latest().withMeta();
  const error = await errorOf(fx.latest());

  const ended = heard.filter(([name]) => name === 'asyncEnd').map(([, { callId }]) => callId);
  expect(ended).toEqual([meta.callId, (error as FxRatesError).callId]);
  expect(ended).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)]);
});

test('does not publish the data, in which a service may repeat the key', async () => {
  channel.subscribe(subscribers);
  const { fx } = testClient(success({ echo: API_KEY }));

  await fx.latest();

  expect(JSON.stringify(heard)).not.toContain(API_KEY);
});

test('the recipe for OpenTelemetry creates a span per call, without the key', async () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const recipe = readDocument(root, 'docs/client.md').snippets.find((code) => code.includes('@opentelemetry/api'))!;
  const folder = mkdtempSync(join(root, '.recipe-'));
  writeFileSync(join(folder, 'recipe.ts'), recipe);
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  await import(pathToFileURL(join(folder, 'recipe.ts')).href);
  rmSync(folder, { recursive: true });

  for (const auth of ['bearer', 'query'] as const) {
    const options = { auth, logger: { warn: () => undefined } };
    const { fx, clock } = testClient([rateLimited('2'), success({ EUR: 1 }), failure(404)], options);
    await clock.run(fx.latest({ base: 'EUR' }));
    await errorOf(fx.latest());
  }

  const [ok, failed, ...others] = exporter.getFinishedSpans();
  expect(others).toHaveLength(2);
  expect(ok).toMatchObject({
    name: 'fxrates latest',
    attributes: { 'fxrates.attempts': 2, 'http.response.status_code': 200, 'url.path': '/api/v1/latest?base=EUR' },
    events: [{ attributes: { status: 429 } }, { attributes: { status: 200, reason: 'rate_limited' } }],
  });
  expect(ok?.attributes['fxrates.waited_ms']).toBeGreaterThanOrEqual(2_000);
  expect(failed).toMatchObject({ status: { code: 2 }, attributes: { 'http.response.status_code': 404 } });
  for (const { attributes, events, status } of exporter.getFinishedSpans()) {
    expect(JSON.stringify([attributes, events, status])).not.toContain(API_KEY.slice(-12));
  }
});
