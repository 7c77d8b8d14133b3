import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { CallOptions, FxRates } from '../../src/client/index.ts';
import { quiet, ticksUntilSettled } from '../helpers/fake-clock.ts';
import { API_KEY, failure, rateLimited, success } from '../helpers/service-replies.ts';
import { errorOf, type TestClient, testClient } from '../helpers/test-client.ts';

/** Microtasks that an abort may take to reach the caller: some links of a promise chain, no turn of the event loop. */
const A_TICK = 10;

interface Scene extends TestClient {
  /** Lets the call get to the point in question. */
  readonly arrive?: () => Promise<unknown>;
  /** Ends what the scene itself keeps open. */
  readonly cleanUp?: () => Promise<unknown>;
}

/** A client whose one slot is taken by another call. */
function busy(): Scene {
  const client = testClient('never', { rateLimit: { maxConcurrent: 1 } });
  const controller = new AbortController();
  const other = errorOf(client.fx.latest({ other: true }, { signal: controller.signal, deadlineMs: false }));
  const cleanUp = () => {
    controller.abort();
    return other;
  };
  return { ...client, cleanUp };
}

/** A client whose gate was closed by the Retry-After of another call. */
async function gated(): Promise<Scene> {
  const client = testClient([rateLimited('50'), success()]);
  await errorOf(client.fx.latest({ other: true }, { onLimit: 'throw' }));
  return client;
}

const scenes: [string, () => Scene | Promise<Scene>][] = [
  ['in the queue for a free place', busy],
  ['in the queue behind a gate', gated],
  ['while the key is fetched', () => testClient(success(), { apiKey: () => new Promise<string>(() => undefined) })],
  ['while another key is fetched', () => testClient(failure(401), { apiKey: providerThatHangs() })],
  ['in a backoff', () => testClient(failure(503))],
  ['in a backoff without a queue', () => testClient(failure(503), { rateLimit: false })],
  ['while a Retry-After passes', () => testClient(rateLimited('30'))],
  ['while a Retry-After passes without a queue', () => testClient(rateLimited('30'), { rateLimit: false })],
  ['while a limit without Retry-After passes', () => testClient(rateLimited(), { rateLimit: false })],
  ['before the response', () => testClient('never')],
  ['before the response of a fetch that does not listen', () => testClient(() => new Promise(() => undefined))],
  ['in the body', () => testClient('stalled body')],
  ['while the quota is asked', () => testClient(failure(429, { code: 'other' }), { quota: 'never' })],
];

function providerThatHangs(): () => Promise<string> {
  let asked = 0;
  return async () => {
    asked += 1;
    return asked === 1 ? API_KEY : new Promise<never>(() => undefined);
  };
}

function call(fx: FxRates, options: CallOptions): Promise<unknown> {
  return errorOf(fx.latest({ base: 'EUR' }, options));
}

/** Nothing of the call is left: no timer, no permit, no place in the queue. */
async function expectNothingLeft({ fx, clock, cleanUp }: Scene): Promise<void> {
  await cleanUp?.();
  await quiet();
  expect(await clock.left()).toBe(0);
  expect(fx.limits()?.inFlight ?? 0).toBe(0);
  expect(fx.limits()?.waiting ?? 0).toBe(0);
}

test.each(scenes)('an abort %s ends the call within a tick and leaves no timer or listener', async (_, set) => {
  const scene = await set();
  const controller = new AbortController();
  const reason = new Error('enough');
  const ending = call(scene.fx, { signal: controller.signal, timeoutMs: 20_000 });
  await quiet();
  const sent = scene.fetch.requests.length;

  controller.abort(reason);
  const ticks = await ticksUntilSettled(ending);

  expect(ticks).toBeLessThanOrEqual(A_TICK);
  expect(await ending).toMatchObject({ kind: 'aborted', cause: reason });
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  await expectNothingLeft(scene);
  expect(scene.fetch.requests.length).toBe(sent);
});

test.each(scenes)('a deadline %s ends the call in time and leaves no timer or listener', async (_, set) => {
  const scene = await set();
  const { signal } = new AbortController();
  const startedAt = scene.clock.now();
  const ending = call(scene.fx, { signal, deadlineMs: 400, timeoutMs: 20_000 });

  await scene.clock.advance(400);
  const ticks = await ticksUntilSettled(ending);

  expect(ticks).toBeLessThanOrEqual(A_TICK);
  expect(scene.clock.now() - startedAt).toBe(400);
  expect(await ending).toMatchObject({ kind: expect.stringMatching(/^(timeout|rate_limited|server)$/) });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await expectNothingLeft(scene);
});

test('a call that cannot end before its deadline rejects as soon as that is known', async () => {
  const scenes = [await gated(), testClient(rateLimited('30')), testClient(rateLimited('30'), { rateLimit: false })];

  for (const { fx, clock } of scenes) {
    const startedAt = clock.now();
    const error = await call(fx, { deadlineMs: 5000 });

    expect(error).toMatchObject({ kind: 'rate_limited', reason: 'deadline' });
    expect(clock.now()).toBe(startedAt);
    expect(await clock.left()).toBe(0);
  }
});

test('a retry that cannot end before the deadline is not waited for', async () => {
  const { fx, clock, fetch } = testClient(failure(503, { headers: { 'retry-after': '20' } }));
  const startedAt = clock.now();

  const error = await call(fx, { deadlineMs: 10_000 });

  expect(error).toMatchObject({ kind: 'server', status: 503 });
  expect(clock.now()).toBe(startedAt);
  expect(fetch.requests).toHaveLength(1);
});

test('an attempt that exceeds its timeout is aborted and retried, and the last one rejects with TimeoutError', async () => {
  const { fx, clock, fetch } = testClient('never');

  const error = await clock.run(call(fx, { timeoutMs: 1000 }));

  expect(error).toMatchObject({ kind: 'timeout', scope: 'attempt', limitMs: 1000 });
  expect((error as { attempts: unknown[] }).attempts).toHaveLength(3);
  expect(fetch.requests.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  expect(await clock.left()).toBe(0);
});

test('without a deadline, a call waits for any Retry-After', async () => {
  const { fx, clock } = testClient([...Array(20).fill(rateLimited('60')), success({ EUR: 1 })]);
  const startedAt = clock.now();

  await expect(clock.run(fx.latest({}, { deadlineMs: false }))).resolves.toEqual({ EUR: 1 });

  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(20 * 60_000);
});

test('a signal and a deadline end a call whose schema hangs', async () => {
  const never = {
    '~standard': { version: 1, vendor: 'test', validate: () => new Promise<never>(() => undefined) },
  } as const;
  const { fx, clock } = testClient(success());
  const controller = new AbortController();

  const aborted = errorOf(fx.latest({ call: 1 }, { schema: never, signal: controller.signal }));
  const late = errorOf(fx.latest({ call: 2 }, { schema: never, deadlineMs: 1000 }));
  await quiet();
  controller.abort();
  await clock.advance(1000);

  expect(await Promise.race([aborted, quiet()])).toMatchObject({ kind: 'aborted' });
  expect(await Promise.race([late, quiet()])).toMatchObject({ kind: 'timeout', scope: 'deadline' });
});

test('a schema can abort its own call', async () => {
  const controller = new AbortController();
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: () => {
        controller.abort(new Error('by the schema'));
        return new Promise<never>(() => undefined);
      },
    },
  } as const;
  const { fx, clock } = testClient(success());

  const call = clock.run(fx.latest({}, { schema, signal: controller.signal }));

  await expect(call).rejects.toMatchObject({ kind: 'aborted', cause: new Error('by the schema') });
});

test('a call aborted before its request was sent uses no slot', async () => {
  for (let ticks = 0; ticks < 40; ticks += 1) {
    const { fx, clock, fetch } = testClient(success(), { rateLimit: { perMinute: 1 } });
    const controller = new AbortController();
    const startedAt = clock.now();

    const ending = call(fx, { signal: controller.signal });
    for (let tick = 0; tick < ticks; tick += 1) await undefined;
    controller.abort();
    await ending;
    await quiet();
    if (fetch.requests.length > 0) break;
    await clock.run(fx.latest({ next: true }));

    expect(clock.now()).toBe(startedAt);
  }
});
