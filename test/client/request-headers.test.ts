import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { RequestError, RequestEvent, RetryEvent } from '../../src/client/index.ts';
import { failure, success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

test('sends the headers of the client, and those of the call in their place', async () => {
  const { fx, fetch } = testClient(success(), { headers: { 'X-Team': 'fx', 'Accept-Language': 'en' } });

  await fx.latest({}, { headers: new Headers({ 'accept-language': 'de', 'x-trace': '1' }) });
  await fx.latest({ n: 1 }, { headers: { 'x-team': undefined } });

  const [first, second] = fetch.requests.map(({ headers }) => headers);
  expect(first).toMatchObject({ 'x-team': 'fx', 'accept-language': 'de', 'x-trace': '1', accept: 'application/json' });
  expect(second).toMatchObject({ 'x-team': 'fx', 'accept-language': 'en' });
  for (const sent of [first, second]) expect(sent?.['authorization']).toMatch(/^Bearer /);
});

test('rejects authorization without showing its value', async () => {
  const { fx, fetch } = testClient(success());

  const error = (await errorOf(fx.latest({}, { headers: { Authorization: 'Bearer secret' } }))) as Error;

  expect(error).toMatchObject({
    kind: 'config',
    message: expect.stringMatching(/'Authorization' cannot be set.*apiKey/),
  });
  expect(error.message).not.toContain('secret');
  expect(fetch.requests).toEqual([]);
});

test('calls with other headers send separate requests and have separate cache entries', async () => {
  const { fx, fetch } = testClient(success(), { cache: { maxAgeMs: 60_000 } });
  const call = (language: string) => fx.latest({}, { headers: { 'accept-language': language } });

  await Promise.all([call('de'), call('en'), call('de')]);
  await call('en');

  expect(fetch.requests).toHaveLength(2);
});

test('the order of headers makes no difference: calls share a request and a cache entry', async () => {
  const { fx, fetch } = testClient(success(), { cache: { maxAgeMs: 60_000 } });
  const call = (headers: Record<string, string>) => fx.latest({}, { headers });

  await Promise.all([call({ 'x-a': '1', 'x-b': '2' }), call({ 'x-b': '2', 'x-a': '1' })]);
  await call({ 'x-b': '2', 'x-a': '1' });

  expect(fetch.requests).toHaveLength(1);
});

test('appends the user agent of the program', async () => {
  const { fx, fetch } = testClient(success(), { headers: { 'User-Agent': 'my-app/2.0 (https://my.app)' } });

  await fx.latest();

  expect(fetch.requests[0]?.headers['user-agent']).toMatch(
    /^fxrates\/\S+ node\/\S+ my-app\/2\.0 \(https:\/\/my\.app\)$/,
  );
});

test('the events, the meta and the attempts of a call have one callId; each response has its requestId', async () => {
  const events: (RequestEvent | RetryEvent)[] = [];
  const note = (event: RequestEvent | RetryEvent) => events.push(event);
  const { fx, clock } = testClient(
    [failure(503, { headers: { 'x-request-id': 'r1' } }), { ...success(), headers: { 'request-id': 'r2' } }, success()],
    { onRequest: note, onRetry: note },
  );

  const { meta } = await clock.run(fx.latest().withMeta());
  const other = await clock.run(fx.latest().withMeta());

  expect(meta.callId).toMatch(/^[\da-f-]{36}$/);
  expect(events.slice(0, 3).map(({ callId }) => callId)).toEqual([meta.callId, meta.callId, meta.callId]);
  expect(events.flatMap((event) => ('requestId' in event ? [event.requestId] : []))).toEqual(['r1', 'r2', undefined]);
  expect([meta.requestId, other.meta.requestId]).toEqual(['r2', undefined]);
  expect(other.meta.callId).not.toBe(meta.callId);
});

test('an error has the callId of its call, and the requestId of its response', async () => {
  const events: RequestEvent[] = [];
  const refused = failure(418, { headers: { 'cf-ray': 'ray-1' } });
  const { fx } = testClient(refused, { onRequest: (event) => events.push(event) });

  const errors = (await Promise.all([errorOf(fx.latest()), errorOf(fx.latest())])) as RequestError[];

  for (const error of errors) {
    expect(error).toMatchObject({ requestId: 'ray-1', callId: events[0]?.callId });
    expect(inspect(error)).toContain(`callId: '${events[0]?.callId}'`);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ requestId: 'ray-1', callId: events[0]?.callId });
  }
});
