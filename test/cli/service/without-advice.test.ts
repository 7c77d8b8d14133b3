import { expect, test } from 'vitest';
import { withoutAdvice } from '../../../src/cli/service/without-advice.ts';
import { unitInWords } from '../../../src/client/state/retry-after-unit-tracker.ts';
import { runCli } from '../../helpers/cli-io.ts';
import { rateLimited, success } from '../../helpers/service-replies.ts';

test.each([
  ['on-trial', 'Retry-After 30000 is too long for the seconds of a per-minute limit and is tried as milliseconds'],
  ['confirmed', 'Retry-After 30000 is in milliseconds, as the answers of the key have shown'],
  [
    'refuted',
    'Retry-After 30000 is in seconds: tried as milliseconds it was refused again, so the limit is a longer one than per minute',
  ],
] as const)('of a unit that is %s the fact stays, without the option of the client', (evidence, fact) => {
  const words = unitInWords({ value: 30_000, unit: 'milliseconds', evidence });

  expect(words).toContain('retryAfterUnit');
  expect(withoutAdvice(`Key fx_live_…cdef: ${words}`)).toBe(`Key fx_live_…cdef: ${fact}`);
});

test('another message stays as it is', () => {
  const message = 'cache: the store cannot be used (EACCES); calls go to the service';

  expect(withoutAdvice(message)).toBe(message);
});

test.each(['latest', 'latest --json'])('%s warns of the unit, and of nothing that cannot be set here', async (line) => {
  const { code, stderr } = await runCli(line, { replies: [rateLimited('30000'), success()] });

  expect(code).toBe(0);
  expect(stderr).toContain('Retry-After 30000 is too long for the seconds of a per-minute limit');
  expect(stderr).not.toContain('retryAfterUnit');
});
