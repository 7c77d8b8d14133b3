import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { CallOptions, FxRatesOptions } from '../../src/client/index.ts';
import { quiet, ticksUntilSettled } from '../helpers/fake-clock.ts';
import { API_KEY, failure, rateLimited, success } from '../helpers/service-replies.ts';
import { differentCalls, errorOf, schemaOf, type TestClient, testClient } from '../helpers/test-client.ts';

/** Microtasks that an abort may take to reach the caller: some links of a promise chain, no turn of the event loop. */
const A_TICK = 10;

interface Scene extends TestClient {
  /** Options of the call. */
  readonly options?: object;
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

/** A client whose call has its response, and a schema that does not end. */
function checking(): Scene {
  return { ...testClient(success()), options: { schema: schemaOf(() => new Promise(() => undefined)) } };
}

/** A client whose gate was closed by the Retry-After of another call. */
async function gated(): Promise<Scene> {
  const client = testClient([rateLimited('50'), success()]);
  await errorOf(client.fx.latest({ other: true }, { onLimit: 'throw' }));
  return client;
}

/** A client whose cache is in a store that does not respond, which is no failure of the store before its timeout. */
function reading(): Scene {
  const store = { get: () => new Promise(() => undefined), set: () => undefined };
  const client = testClient(success(), { cache: { maxAgeMs: 60_000, store } });
  return { ...client, cleanUp: () => client.clock.advance(1_000) }; // the store is measured to its end
}

/** A client that needs the quota before it sends a call. After a deadline, `quota()` continues for the next call. */
function needingQuota(options: FxRatesOptions): Scene {
  const client = testClient('never', { quota: 'never', ...options });
  return { ...client, cleanUp: () => client.clock.advance(20_000) };
}

const scenes: [string, () => Scene | Promise<Scene>][] = [
  ['in the queue for a free place', busy],
  ['in the queue behind a gate', gated],
  ['while the key is fetched', () => testClient(success(), { apiKey: () => new Promise<string>(() => undefined) })],
  ['while another key is fetched', () => testClient(failure(401), { apiKey: providerThatHangs() })],
  ['while the cache is read', reading],
  ["while the quota is asked for cache: 'snapshot'", () => needingQuota({ cache: 'snapshot' })],
  ['while the quota is asked for the guard', () => needingQuota({ quotaGuard: { reserve: 10 } })],
  ['in a backoff', () => testClient(failure(503))],
  ['in a backoff without a queue', () => testClient(failure(503), { rateLimit: false })],
  ['while a Retry-After passes', () => testClient(rateLimited('30'))],
  ['while a Retry-After passes without a queue', () => testClient(rateLimited('30'), { rateLimit: false })],
  ['while a limit without Retry-After passes', () => testClient(rateLimited(), { rateLimit: false })],
  ['before the response', () => testClient('never')],
  ['before the response of a fetch that does not listen', () => testClient(() => new Promise(() => undefined))],
  ['in the body', () => testClient('stalled body')],
  ['while a schema checks the data', checking],
  ['while the quota is asked', () => testClient(failure(429, { code: 'other' }), { quota: 'never' })],
];

function providerThatHangs(): () => Promise<string> {
  let asked = 0;
  return async () => {
    asked += 1;
    return asked === 1 ? API_KEY : new Promise<never>(() => undefined);
  };
}

function call({ fx, options }: Scene, more: CallOptions): Promise<unknown> {
  return errorOf(fx.latest({ base: 'EUR' }, { ...options, ...more }));
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
  const ending = call(scene, { signal: controller.signal, timeoutMs: 20_000 });
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

/** A store that hangs does not fail a call. */
const failing = scenes.filter(([when]) => when !== 'while the cache is read');

test.each(failing)('a deadline %s ends the call in time and leaves no timer or listener', async (_, set) => {
  const scene = await set();
  const { signal } = new AbortController();
  const startedAt = scene.clock.now();
  const ending = call(scene, { signal, deadlineMs: 400, timeoutMs: 20_000 });

  await scene.clock.advance(400);
  const ticks = await ticksUntilSettled(ending);

  expect(ticks).toBeLessThanOrEqual(A_TICK);
  expect(scene.clock.now() - startedAt).toBe(400);
  expect(await ending).toMatchObject({ kind: expect.stringMatching(/^(timeout|rate_limited|server)$/) });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await expectNothingLeft(scene);
});

test('many calls, batches and polls at once cause no leak warning, and leave nothing on a signal', async () => {
  const { fx, clock } = testClient(success(), { coalesce: false, rateLimit: { perMinute: 1000 } });
  const warnings: unknown[] = [];
  const note = (warning: unknown) => warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { signal } = new AbortController();
  const client = fx.withOptions();
  const runs = Array.from({ length: 20 }, async (_, call) => {
    for await (const { error } of client.batch([{ call }], { signal })) expect(error).toBeUndefined();
    for await (const _item of client.poll({ call }, { every: 60_000, signal })) break;
  });

  await clock.run(Promise.all([...runs, ...differentCalls(client, 100, { signal })]));
  await quiet();

  expect(warnings).toEqual([]);
  expect(entriesOn(signal)).toBe(0);
});

/** Number of the listeners that Node.js keeps on a signal, and of the signals that depend on it. */
function entriesOn(signal: AbortSignal): number {
  const sizes = Object.getOwnPropertySymbols(signal).map((name) => Object(Reflect.get(signal, name)).size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}
