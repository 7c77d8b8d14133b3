import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfter, retryAfterMs } from '../../../src/client/limits/retry-after.ts';

const DATE = 'Tue, 14 Nov 2023 22:13:20 GMT';

test.each([
  ['30', 30_000],
  // The server has just refused a request: no wait at all says nothing.
  ['0', undefined],
  ['0.0', undefined],
  ['2.5', 2_500],
  [' 7 ', 7_000],
  ['30, 60', 60_000],
  ['1.5, 1', 1_500],
  ['Tue, 14 Nov 2023 22:13:50 GMT', 30_000],
  ['1700000030', 30_000],
  ['1700000030000', 30_000],
  // In the past, by the server's own clock.
  ['Tue, 14 Nov 2023 22:13:19 GMT', undefined],
  ['1699999999', undefined],
  // Not yet a Unix time.
  ['1000000000', 1e12],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
  ['5 s', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  ['2023-11-14T22:13:50Z', undefined],
  [undefined, undefined],
])('%j is a wait of %j ms when the unit is seconds', (text, waitMs) => {
  expect(retryAfterMs(parseRetryAfter(text), { unit: 'seconds', date: DATE, serverNowMs: 0 })).toBe(waitMs);
});

test('only a plain integer has the other unit', () => {
  const milliseconds = { unit: 'milliseconds', date: DATE, serverNowMs: 0 } as const;

  expect(retryAfterMs(parseRetryAfter('1500'), milliseconds)).toBe(1_500);
  expect(retryAfterMs(parseRetryAfter('1.5'), milliseconds)).toBe(1_500);
  expect(retryAfterMs(parseRetryAfter('Tue, 14 Nov 2023 22:13:21 GMT'), milliseconds)).toBe(1_000);
});

test('a date without the date of the answer is counted from the best estimate of the server clock', () => {
  const parsed = parseRetryAfter('Tue, 14 Nov 2023 22:13:50 GMT');
  const serverNowMs = Date.parse(DATE) + 20_000;

  for (const date of [undefined, 'yesterday']) {
    expect(retryAfterMs(parsed, { unit: 'seconds', date, serverNowMs })).toBe(10_000);
  }
});

test('whatever the header says, the wait is absent or a positive number of milliseconds', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.double().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
      (text) => {
        const waitMs = retryAfterMs(parseRetryAfter(text), { unit: 'seconds', date: DATE, serverNowMs: 0 });
        expect(waitMs === undefined || waitMs > 0).toBe(true);
      },
    ),
  );
});
