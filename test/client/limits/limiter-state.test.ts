import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  hasConfiguredLimit,
  isBelowConfigured,
  newHypothesis,
  parseLimiterState,
} from '../../../src/client/limits/limiter-state.ts';
import { initialState } from '../../../src/client/limits/transitions.ts';
import { LimiterProcess, limiterEvents } from '../../helpers/limiter-events.ts';

const EXAMPLE = initialState(Number.POSITIVE_INFINITY);
const HINTS = [undefined, '0', '1', '17', '60', '2500', '61000', '3600', '0.5', '86400'];

test('a state restored from JSON at any moment continues with the same grants', () => {
  fc.assert(
    fc.property(limiterEvents(HINTS), fc.constantFrom(Number.POSITIVE_INFINITY, 30), (events, perMinute) => {
      const process = new LimiterProcess(perMinute);
      const restored = new LimiterProcess(perMinute);
      for (const event of events) {
        restored.state = parseLimiterState(JSON.parse(JSON.stringify(restored.state)), EXAMPLE);

        expect(restored.apply(event)).toEqual(process.apply(event));
        expect(JSON.parse(JSON.stringify(restored.state))).toEqual(JSON.parse(JSON.stringify(process.state)));
      }
    }),
    { numRuns: 200 },
  );
});

test('a thousand calls take less than 10 kB', () => {
  const process = new LimiterProcess(1_000);
  for (let call = 0; call < 1_000; call += 1) {
    process.ask(1);
    process.apply({ kind: 'time', ms: 59 });
    process.apply({ kind: 'accepted', place: 0, isDated: false });
  }

  expect(process.state.log.size).toBe(1_000);
  expect(JSON.stringify(process.state).length).toBeLessThan(10_000);
});

test.each([
  ['no object', 'text'],
  ['another window', { ...initialState(3), window: { kind: 'moon' } }],
  ['a window of an inherited kind', { ...initialState(3), window: { kind: '__proto__' } }],
  ['a log that is no list', { ...initialState(3), log: 'none' }],
  ['a missing part', { ...initialState(3), gate: undefined }],
])('%s is not a state', (_reason, saved) => {
  const text = JSON.stringify(saved);

  expect(() => parseLimiterState(JSON.parse(text), EXAMPLE)).toThrow(TypeError);
});

interface Nested {
  readonly [name: string]: Nested;
}

/** The paths to all values in a record that are not records themselves. */
function leavesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, part]) => leavesOf(part, [...path, key]));
}

test('a state with any value missing or of another type is not a state', () => {
  const bucket = { kind: 'bucket', perMs: 0.0005, capacity: 5, tokens: 0, at: 0 };
  const unit = { evidence: 'on-trial', endsAt: 30_000 };
  const text = JSON.stringify({
    ...initialState(3),
    window: bucket,
    unit,
    log: [1, 2, 3],
  });
  expect(parseLimiterState(JSON.parse(text), EXAMPLE)).toMatchObject({ window: bucket, unit });

  const leaves = leavesOf(JSON.parse(text));
  expect(leaves.length).toBeGreaterThan(42);
  for (const path of leaves) {
    const name = path.at(-1)!;
    const holderIn = (state: unknown) => path.slice(0, -1).reduce((record, key) => record[key]!, state as Nested);
    const value = holderIn(JSON.parse(text))[name];
    for (const wrong of [undefined, {}, [1], typeof value === 'boolean' ? 0 : true]) {
      const changed = JSON.parse(text);
      Object.assign(holderIn(changed), { [name]: wrong });

      expect(() => parseLimiterState(JSON.parse(JSON.stringify(changed)), EXAMPLE), path.join('.')).toThrow(TypeError);
    }
  }
});

test('infinite values keep their sign in JSON', () => {
  const state = initialState(Number.POSITIVE_INFINITY);

  const { configured, limit, gate, blockedUntil, serverAhead, burst } = parseLimiterState(
    JSON.parse(JSON.stringify(state)),
    EXAMPLE,
  );

  expect([configured, limit, burst.calls, serverAhead.atMost]).toEqual(Array.from({ length: 4 }, () => Infinity));
  expect([gate.opensAt, gate.staleBefore, blockedUntil, serverAhead.atLeast]).toEqual(
    Array.from({ length: 4 }, () => -Infinity),
  );
});

test('a hypothesis starts with the refusal, without a gate', () => {
  expect(newHypothesis(500)).toMatchObject({ startedAt: 500, exhaustedAt: 500, opensAt: 0, hint: 'none', tries: 0 });
});

test('a state is below its configured limit if its bucket rate or else its limit is lower', () => {
  const state = initialState(60);
  const bucket = { kind: 'bucket', perMs: 0.0005, capacity: 5, tokens: 0, at: 0 } as const;

  expect([initialState(Number.POSITIVE_INFINITY), state].map(hasConfiguredLimit)).toEqual([false, true]);
  expect(isBelowConfigured(state)).toBe(false);
  expect(isBelowConfigured({ ...state, limit: 59 })).toBe(true);
  expect(isBelowConfigured({ ...state, window: bucket })).toBe(true);
  expect(isBelowConfigured({ ...state, window: { ...bucket, perMs: 0.001 } })).toBe(false);
});
