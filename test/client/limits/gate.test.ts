import { expect, test } from 'vitest';
import { Gate } from '../../../src/client/limits/gate.ts';

test('a known limit needs no ramp, an unknown one begins with four calls and a quarter of what was accepted', () => {
  const gate = new Gate();

  expect(gate.ramp(true)).toBe(Number.POSITIVE_INFINITY);
  expect(gate.ramp(false)).toBe(4);

  for (let call = 0; call < 40; call += 1) gate.accept();
  expect(gate.ramp(false)).toBe(10);

  for (let call = 0; call < 1_000; call += 1) gate.accept();
  expect(gate.ramp(false)).toBe(64);
});

test('after it was closed one call goes first, then one more than were accepted', () => {
  const gate = new Gate();
  gate.close(1_000);

  expect(gate.isHalfOpen).toBe(true);
  expect(gate.ramp(true)).toBe(1);

  gate.accept();
  gate.accept();
  expect(gate.isHalfOpen).toBe(false);
  expect(gate.ramp(true)).toBe(3);
});

test('opens when the last of all waits that were asked for has passed', () => {
  const gate = new Gate();

  gate.stayClosedUntil(5_000);
  gate.stayClosedUntil(2_000);
  gate.close(3_000);

  expect(gate.opensAt).toBe(5_000);
});

test('answers to requests sent before it opened are no news', () => {
  const gate = new Gate();
  gate.close(1_000);

  expect(gate.isNews(999)).toBe(false);
  expect(gate.isNews(1_000)).toBe(true);
});

test('waits that were misread do not count', () => {
  const gate = new Gate();
  gate.close(60_000);

  gate.reopen(100);

  expect(gate.opensAt).toBe(100);
  expect(gate.isNews(100)).toBe(true);
});

test('where more is refused than accepted it closes twice as long each time, up to 16 s', () => {
  const gate = new Gate();
  const closedMs = Array.from({ length: 13 }, (_, place) => {
    const now = place * 100_000;
    gate.stayClosedUntil(now);
    gate.startEpisode(now);
    return gate.opensAt - now;
  });

  expect(closedMs).toEqual([0, 0, 0, 0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000]);
});

test('accepted calls make up for refusals', () => {
  const gate = new Gate();
  for (let round = 0; round < 20; round += 1) {
    gate.startEpisode(round);
    gate.accept();
  }

  expect(gate.opensAt).toBe(Number.NEGATIVE_INFINITY);
});
