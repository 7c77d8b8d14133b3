import { expect, test } from 'vitest';
import { FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { ignoredOptionsWarning } from '../../../src/client/key/key-state.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { BASE_URL } from '../../helpers/test-client.ts';

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
