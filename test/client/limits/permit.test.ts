import { expect, test, vi } from 'vitest';
import { LimitError } from '../../../src/client/limits/permit.ts';

test.each([
  ['deadline', 'is after the deadline of the call'],
  ['max_retry_after', 'requires a longer wait than maxRetryAfterMs allows'],
  ['policy', 'requires a wait, and the call does not wait'],
] as const)('says why a call may not wait (%s)', (reason, explanation) => {
  const cause = new Error('503');
  const error = new LimitError(reason, 1_700_000_000_000, { cause });

  expect(error.message).toBe(`The next free slot of the limit ${explanation}`);
  expect(error).toMatchObject({ name: 'LimitError', reason, retryAt: 1_700_000_000_000, cause });
});

test('recognises the errors of another copy of the package in the same process', async () => {
  vi.resetModules();
  const copy = await import('../../../src/client/limits/permit.ts');
  const foreign = new copy.LimitError('policy', 0);

  expect(foreign).not.toBeInstanceOf(LimitError);
  expect(LimitError.is(foreign)).toBe(true);
  expect(LimitError.is(new LimitError('policy', 0))).toBe(true);
});

test.each([new Error('another'), undefined, null, 'text', { reason: 'policy' }])('%o is not such an error', (value) => {
  expect(LimitError.is(value)).toBe(false);
});
