import { expect, test } from 'vitest';
import { LimiterRun, usedUpRun } from '../../helpers/limiter-run.ts';

const MINUTE = 60_000;

test('a hint that the oldest call explains shows a sliding window immediately', () => {
  const run = usedUpRun('59.9');

  expect(run.state).toMatchObject({ phase: 'known', limit: 3, window: { kind: 'log' } });
  expect(run.ask(30_000)).toEqual({ count: 0, isProbe: false, askAgainAt: 60_100 });
  expect(run.ask(60_100)).toMatchObject({ count: 3, isProbe: false });
});

test('after another long hint, one call is sent first and starts the window', () => {
  const run = usedUpRun('30');

  expect(run.ask(10_000)).toEqual({ count: 0, isProbe: false, askAgainAt: 30_200 });
  expect(run.ask(30_200)).toMatchObject({ count: 1, isProbe: false });
  expect(run.ask(30_250)).toMatchObject({ count: 0, askAgainAt: undefined });
  run.accept(30_200);
  expect(run.ask(30_300)).toMatchObject({ count: 2, isProbe: false });
  run.accept(30_300, { calls: 2 });

  expect(run.state).toMatchObject({ phase: 'known', limit: 3, window: { kind: 'fixed', startsAt: 30_200 } });
  expect(run.ask(30_400)).toEqual({ count: 0, isProbe: false, askAgainAt: 90_200 });
});

test('short hints and a steady rate of accepted calls show a bucket of the configured rate', () => {
  const run = usedUpRun('19.8');
  run.ask(20_000);
  run.accept(20_000);
  run.ask(20_100);
  run.refuse(20_100, { retryAfter: '20' });

  expect(run.window).toBe('token-bucket');
  expect(run.ask(30_000)).toMatchObject({ count: 0 });
  expect(run.ask(40_250)).toMatchObject({ count: 1, isProbe: false });
});

test('only the first of many simultaneous refusals is evidence', () => {
  const run = new LimiterRun();
  run.ask(0);
  for (const retryAfter of ['30', '5', '29', undefined]) run.refuse(0, { retryAfter });

  expect(run.state.gate).toMatchObject({ opensAt: 30_100, pressure: 1 });
  expect(run.state.inFlight).toBe(0);
  expect(run.ask(30_100)).toMatchObject({ count: 1 });
});

test('an accepted request that was sent before the last refusal offsets a refusal', () => {
  const run = new LimiterRun(30);
  run.ask(0, 3);
  run.refuse(0, { retryAfter: '1' });
  expect(run.state.gate.pressure).toBe(1);

  run.accept(0);

  expect(run.state.gate.pressure).toBe(0);
});

test('the gate stays closed for the longest wait of all responses', () => {
  const run = new LimiterRun();
  run.ask(0);
  run.refuse(0, { retryAfter: '1' });
  run.refuse(0, { retryAfter: '30' });

  expect(run.state.gate.opensAt).toBe(30_100);
});

test('an unknown limit is the number of calls accepted before the first refusal, including late responses', () => {
  const run = new LimiterRun();
  run.ask(0);
  run.accept(0, { calls: 2 });
  run.refuse(0, { retryAfter: '30' });
  run.accept(0);

  expect(run.state).toMatchObject({ limit: 3, inFlight: 0, phase: 'learning' });
});

test('late responses to a second refusal do not raise the limit', () => {
  const run = new LimiterRun();
  run.ask(0);
  run.accept(0, { calls: 2 });
  run.refuse(0, { retryAfter: '30' });
  run.ask(30_100);
  run.refuse(30_100, { retryAfter: '30' });

  const { limit } = run.state;
  run.accept(0);

  expect(run.state.limit).toBe(limit);
});

test('late responses do not raise the limit above the configured one', () => {
  const run = new LimiterRun();
  run.ask(0);
  run.accept(0);
  run.refuse(0, { retryAfter: '30' });
  run.configure(1);

  run.accept(0);

  expect(run.state.limit).toBe(1);
});

test('without a hint, tries after 1, 2, 4 … s', () => {
  const run = new LimiterRun();
  run.ask(0);
  run.refuse(0);
  const opensAt = [run.state.gate.opensAt];
  for (let tries = 0; tries < 4; tries += 1) {
    run.ask(opensAt.at(-1)!);
    run.refuse(opensAt.at(-1)!);
    opensAt.push(run.state.gate.opensAt);
  }
  expect(opensAt).toEqual([1_100, 3_200, 7_300, 15_400, 31_500]);
});

test('without a hint, tries when the oldest call expires, if that is sooner', () => {
  const run = new LimiterRun(3);
  run.ask(0);
  run.accept(0, { calls: 3 });
  run.ask(59_500);
  run.refuse(59_500, { isProbe: true });

  expect(run.state.gate.opensAt).toBe(60_100);
});

test.each([20_000, 55_000, 114_000, 3_600_000])(
  'a try sent %i ms after its gate has opened does not use the slots of the next calls',
  (lateMs) => {
    const run = new LimiterRun(3);
    run.ask(0);
    run.refuse(0);
    const sentAt = run.state.gate.opensAt + lateMs;
    for (let call = 0; call < 3; call += 1) {
      run.ask(sentAt + call * 200);
      run.accept(sentAt + call * 200);
    }

    const slotAt = run.slotAt(sentAt + 1_000, 0);

    expect(run.window).not.toBe('unknown');
    expect(slotAt).toBeLessThanOrEqual(sentAt + 2 * MINUTE);
    expect(run.ask(slotAt).count).toBeGreaterThan(0);
  },
);

test('after a refusal below the limit, the accepted calls are its share, and it probes for more later', () => {
  const run = usedUpRun('59.9');
  run.ask(60_200);
  run.accept(60_200);
  run.refuse(60_200);
  run.refuse(60_200);

  expect(run.state).toMatchObject({ limit: 1, window: { kind: 'log' } });
  expect(run.slotAt(60_300, 0)).toBe(120_300);

  run.ask(120_300);
  run.accept(120_300);
  expect(run.ask(120_400)).toMatchObject({ count: 0, askAgainAt: 180_300 });
  run.ask(180_400);
  run.accept(180_400);
  expect(run.ask(180_500)).toMatchObject({ count: 1, isProbe: true });
});

test('an accepted probe in a known window raises the share by one, up to the configured limit', () => {
  const run = new LimiterRun(10);
  run.state = { ...run.state, phase: 'known', limit: 9 };
  run.accept(0, { isProbe: true });
  expect(run.state.limit).toBe(10);

  run.accept(100, { isProbe: true });
  expect(run.state.limit).toBe(10);
});

test('a lost request counts as sent, and raises nothing', () => {
  const run = new LimiterRun(3);
  run.ask(0);
  run.lose(0);

  expect(run.state).toMatchObject({ inFlight: 2, limit: 3, gate: { accepted: 0 } });
  expect(run.state.log.size).toBe(1);
});

test('a Retry-After longer than maxRetryAfterMs blocks all calls, and proves nothing about the window', () => {
  const run = new LimiterRun();
  run.ask(0, 1);

  const reading = run.refuse(0, { retryAfter: '86400' });

  expect(reading).toEqual({ waitMs: 86_400_000, unit: 'seconds', evidence: 'assumed' });
  expect(run.state).toMatchObject({ phase: 'unknown', inFlight: 0, blockedUntil: 86_400_100 });
  expect(run.ask(86_400_099)).toEqual({ count: 0, isProbe: false, askAgainAt: 86_400_100 });
  expect(run.ask(86_400_100).count).toBeGreaterThan(0);
});

test('such a Retry-After blocks for at most a day, because a plan can change', () => {
  const run = new LimiterRun();
  run.ask(0, 1);

  run.refuse(0, { retryAfter: String(30 * 86_400) });

  expect(run.state.blockedUntil).toBe(86_400_100);
});

test('maxRetryAfterMs decides what is too long', () => {
  const run = new LimiterRun(3, { maxRetryAfterMs: 100_000 });
  run.ask(0);

  run.refuse(0, { retryAfter: '99.5' });

  expect(run.state.blockedUntil).toBe(Number.NEGATIVE_INFINITY);
  expect(run.state.gate.opensAt).toBe(99_600);
});

test.each([
  ['auto', '30000', { waitMs: 30_000, unit: 'milliseconds', evidence: 'on-trial' }],
  ['auto', '30', { waitMs: 30_000, unit: 'seconds', evidence: 'assumed' }],
  ['auto', '0', { waitMs: undefined, unit: 'seconds', evidence: 'assumed' }],
  ['auto', undefined, { waitMs: undefined, unit: 'seconds', evidence: 'assumed' }],
  ['milliseconds', '30', { waitMs: 30, unit: 'milliseconds', evidence: 'set' }],
  ['seconds', '40', { waitMs: 40_000, unit: 'seconds', evidence: 'set' }],
] as const)('with retryAfterUnit %s, a Retry-After of %s is read', (retryAfterUnit, retryAfter, reading) => {
  const run = new LimiterRun(3, { retryAfterUnit });
  run.ask(0);

  expect(run.refuse(0, { retryAfter })).toEqual(reading);
});

test('with a configured unit, responses that would start a trial do not', () => {
  const run = new LimiterRun(3, { retryAfterUnit: 'milliseconds' });
  run.ask(0);
  run.refuse(0, { retryAfter: '30000' });

  expect(run.state.unit.evidence).toBe('assumed');
});

test('an HTTP date without a `Date` header is compared with the estimated server clock', () => {
  const run = new LimiterRun(3);
  run.ask(0);
  // The server's clock is an hour ahead.
  run.accept(0, { date: 'Thu, 01 Jan 1970 01:00:00 GMT' });

  const { waitMs } = run.refuse(0, { retryAfter: 'Thu, 01 Jan 1970 01:00:30 GMT' });

  expect(waitMs).toBe(30_000);
});

test('a configured limit replaces an unknown one, and lowers a larger one', () => {
  const run = new LimiterRun();
  run.configure(30);
  expect(run.state).toMatchObject({ configured: 30, limit: 30 });

  run.configure(10);
  expect(run.state).toMatchObject({ configured: 10, limit: 10 });
});

test('a configured limit lowers a known one, also a learned one', () => {
  const run = new LimiterRun();
  run.state = { ...run.state, phase: 'known', limit: 20 };

  run.configure(10);

  expect(run.state.limit).toBe(10);
});

test('a higher configured limit raises a whole limit, and makes a share probe immediately', () => {
  const whole = new LimiterRun(10);
  whole.state = { ...whole.state, phase: 'known' };
  const share = new LimiterRun(10);
  share.state = { ...share.state, phase: 'known', limit: 4, probe: { ...share.state.probe, dueAt: 99_000 } };

  whole.configure(20);
  share.configure(20);

  expect(whole.state.limit).toBe(20);
  expect(share.state).toMatchObject({ limit: 4, probe: { dueAt: 0 } });
});

test('a higher configured limit raises the rate of a bucket that used the whole limit', () => {
  const run = new LimiterRun(30);
  const bucket = { kind: 'bucket', perMs: 30 / MINUTE, capacity: 5, tokens: 0, at: 0 } as const;
  run.state = { ...run.state, phase: 'known', window: bucket };

  run.configure(60);

  expect(run.state.window).toMatchObject({ perMs: 60 / MINUTE });
});
