import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveOptions } from '../../../src/client/config/settings.ts';
import { ClientEvents } from '../../../src/client/events.ts';
import { FxRates, type FxRatesOptions, type WaitEvent } from '../../../src/client/index.ts';
import { ApiKey } from '../../../src/client/key/api-key.ts';
import {
  ignoredOptionsWarning,
  KeyState,
  QUEUED_RETRIES,
  RetryBudget,
  Subscribers,
  stateName,
  UNQUEUED_RETRIES,
} from '../../../src/client/key/key-state.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { MemoryLimitStore } from '../../helpers/memory-limit-store.ts';
import { API_KEY, quotaRecord, success } from '../../helpers/service-replies.ts';
import { BASE_URL, differentCalls, testClient } from '../../helpers/test-client.ts';

const KEY = ApiKey.from(API_KEY);

function stateWith(options: FxRatesOptions = {}): KeyState {
  const settings = resolveOptions({ clock: new FakeClock(), ...options });
  return new KeyState(KEY, { ...settings, baseUrl: BASE_URL });
}

/** A client, with the waits and warnings that its program receives. */
function client() {
  const waits: WaitEvent[] = [];
  const warnings: string[] = [];
  const logger = { warn: (message: string) => warnings.push(message) };
  return { events: new ClientEvents({ logger, onWait: (event) => waits.push(event) }), waits, warnings };
}

test.each([
  [1, 1],
  [30, 30],
  [0, undefined],
  [-1, undefined],
  [2.5, undefined],
  [2 ** 53, undefined],
])('a quota record with a limit of %d per minute sets a learned limit to %s', (perMinute, expected) => {
  const state = stateWith();

  state.sawQuota(quotaRecord({ rate_limit_per_minute: perMinute }), 0);

  expect(state.limits()?.perMinute).toBe(expected);
  expect(state.quota.estimate()?.quota.rate_limit_per_minute).toBe(perMinute);
});

test('a quota record does not change a limit that the program sets', () => {
  const state = stateWith({ rateLimit: { perMinute: 60 } });

  state.sawQuota(quotaRecord({ rate_limit_per_minute: 30 }), 0);

  expect(state.limits()?.perMinute).toBe(60);
});

test('without a queue there is no limit, also after a quota record', () => {
  const state = stateWith({ rateLimit: false });

  state.sawQuota(quotaRecord({ rate_limit_per_minute: 30 }), 0);

  expect(state.limits()).toBeUndefined();
  expect(state.quota.estimate()?.quota.rate_limit_per_minute).toBe(30);
});

test('the name of a state has the origin and the hash, but neither path nor key', () => {
  const settings = resolveOptions({ rateLimit: false });
  const named = (baseUrl: string) => stateName('abc', { ...settings, baseUrl });

  expect(named('https://fx.test:8443/v2/x')).toBe('https://fx.test:8443#abc#unqueued');
  expect(stateName('abc', { ...resolveOptions({}), baseUrl: 'https://fx.test' })).toBe('https://fx.test#abc');
});

test.each(['window', 'service'] as const)('a wait that is already over is one of 0 ms: %s', (reason) => {
  const clock = new FakeClock(5000);
  const subscribers = new Subscribers(stateWith(), clock);
  const { events, waits } = client();
  subscribers.join(events);

  subscribers.notify({ until: 4000, waiting: 1, reason });

  expect(waits).toMatchObject([{ reason, waitMs: 0 }]);
});

test('the clients with waiting calls receive a warning, and later ones do not', () => {
  const subscribers = new Subscribers(stateWith(), new FakeClock());
  const [one, other, later] = [client(), client(), client()];
  subscribers.join(one.events);
  subscribers.join(other.events);

  subscribers.warn('the store failed');
  subscribers.join(later.events);

  expect([one.warnings, other.warnings, later.warnings]).toEqual([['the store failed'], ['the store failed'], []]);
});

test('a warning without a waiting call is for the next client only', () => {
  const subscribers = new Subscribers(stateWith(), new FakeClock());
  const [one, other] = [client(), client()];

  subscribers.warn('the store failed');
  subscribers.warnPending(one.events);
  subscribers.warnPending(other.events);

  expect([one.warnings, other.warnings]).toEqual([['the store failed'], []]);
});

test('a client warns once of a store that fails, with the reason and the effect', async () => {
  const warnings: string[] = [];
  const store = { exchange: () => Promise.reject(new Error('connection refused')) };
  const { fx, clock } = testClient(success(), {
    rateLimit: { store },
    logger: { warn: (message) => warnings.push(message) },
  });

  await clock.run(Promise.all(differentCalls(fx, 3)));

  expect(warnings).toEqual([
    'rateLimit.store: the store failed (connection refused); this process uses its share of the limit until the store responds again',
  ]);
});

test('a store that fails when no call waits is reported with the next call, even if that need not wait', async () => {
  const warnings: string[] = [];
  const clock = new FakeClock();
  const store = new MemoryLimitStore(clock);
  const { fx } = testClient(success(), {
    clock,
    rateLimit: { store },
    logger: { warn: (message) => warnings.push(message) },
    onRequest: () => {
      store.health = 'down'; // before the response is in the store
    },
  });
  await clock.run(fx.latest());
  expect(warnings).toEqual([]);

  await clock.run(fx.latest());

  expect(warnings).toHaveLength(1);
});

test.each<[FxRatesOptions, number]>([
  [{ rateLimit: false }, 20],
  [{}, 100],
])('with %j, a key allows at most %i retries in a row, also after successes', (options, most) => {
  const { retryBudget } = stateWith(options);

  for (let success = 0; success < 500; success += 1) retryBudget.succeeded();
  const retries = Array.from({ length: 150 }, () => retryBudget.take()).filter(Boolean);

  expect(retries).toHaveLength(most);
});

test.each([UNQUEUED_RETRIES, QUEUED_RETRIES])('retries are at most those of the budget %j, in any order', (size) => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 400 }), (outcomes) => {
      const budget = new RetryBudget(size);
      let retries = 0;
      let successes = 0;

      for (const isSuccess of outcomes) {
        if (isSuccess) {
          budget.succeeded();
          successes += 1;
        } else if (budget.take()) retries += 1;

        expect(retries).toBeLessThanOrEqual(size.inARow + successes / size.successesPerRetry);
      }
    }),
  );
});

const WHY =
  'ignored, because all clients of key fx_live_…cdef in this process share one limit, with the options of the first client; pass the same options to each';

/** The warnings of the last of these clients of one key. */
function warningsOfLast(...clients: FxRatesOptions[]): string[] {
  const clock = new FakeClock();
  let warnings: string[] = [];
  for (const options of clients) {
    warnings = [];
    const logger = { warn: (message: string) => warnings.push(message) };
    new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY, clock, logger, ...options });
  }
  return warnings;
}

test.each<[FxRatesOptions, FxRatesOptions, string]>([
  [{}, { rateLimit: { perMinute: 60 } }, "rateLimit.perMinute: 60 (in use: 'learn')"],
  [
    { rateLimit: { perMinute: 30 } },
    { rateLimit: { perMinute: 'learn' } },
    "rateLimit.perMinute: 'learn' (in use: 30)",
  ],
  [{}, { rateLimit: { maxConcurrent: 4 } }, 'rateLimit.maxConcurrent: 4 (in use: 16)'],
  [{}, { maxRetryAfterMs: 5000 }, 'maxRetryAfterMs: 5000 (in use: 600000)'],
  [{}, { retryAfterUnit: 'milliseconds' }, "retryAfterUnit: 'milliseconds' (in use: 'auto')"],
  [
    { rateLimit: false },
    { rateLimit: false, retryAfterUnit: 'milliseconds' },
    "retryAfterUnit: 'milliseconds' (in use: 'auto')",
  ],
  [
    { retryAfterUnit: 'seconds' },
    { rateLimit: { perMinute: 60 }, retryAfterUnit: 'milliseconds' },
    "rateLimit.perMinute: 60 (in use: 'learn'), retryAfterUnit: 'milliseconds' (in use: 'seconds')",
  ],
])('after a client with %j, one with %j warns of options without effect', (first, second, what) => {
  expect(warningsOfLast(first, second)).toEqual([`${what}: ${WHY}`]);
});

test.each<[FxRatesOptions, FxRatesOptions]>([
  [{}, {}],
  [{ rateLimit: { perMinute: 30 }, maxRetryAfterMs: 5000 }, {}],
  [{ rateLimit: { perMinute: 30 } }, { rateLimit: { perMinute: 30 } }],
  [{}, { timeoutMs: 5, onLimit: 'throw', maxRetries: 0 }],
  [{ rateLimit: { perMinute: 30 } }, { rateLimit: false, retryAfterUnit: 'seconds' }],
  [{ rateLimit: false }, { rateLimit: false, maxRetryAfterMs: 5000 }],
  [{}, { rateLimit: { perMinute: 60 }, apiKey: `fx_live_${'f'.repeat(48)}` }],
  [{}, { rateLimit: { perMinute: 60 }, baseUrl: 'https://other.test' }],
])('after a client with %j, one with %j does not warn', (first, second) => {
  expect(warningsOfLast(first, second)).toEqual([]);
});

test('the warning does not show the contents of an option, such as the password of a store', () => {
  const store = { exchange: () => Promise.reject(new Error('not used')), url: 'redis://user:secret@redis.test' };

  expect(ignoredOptionsWarning({ 'rateLimit.store': store }, { key: 'fx_live_…cdef', options: {} })).toBe(
    `rateLimit.store: [Object] (in use: undefined): ${WHY}`,
  );
});

test('onKey is called once with the key of a provider', async () => {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const given = { baseUrl: BASE_URL, clock, fetch: async () => Response.json({ success: true, data: {} }) };
  new FxRates({ ...given, apiKey: API_KEY });
  const fx = new FxRates({
    ...given,
    apiKey: () => API_KEY,
    rateLimit: { maxConcurrent: 4 },
    logger: { warn: (message) => warnings.push(message) },
  });
  expect(warnings).toEqual([]);

  await Promise.all([fx.latest({ call: 1 }), fx.latest({ call: 2 })]);

  expect(warnings).toHaveLength(1);
});
