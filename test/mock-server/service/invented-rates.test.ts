import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CURRENCIES, inventRates } from '../../../src/mock-server/service/invented-rates.ts';

const JANUARY = Date.UTC(2026, 0, 15);
const currency = fc.constantFrom(...CURRENCIES);
const seed = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0) });

test('has the currencies of ISO 4217, each once and in order', () => {
  expect(CURRENCIES.length).toBeGreaterThanOrEqual(165);
  expect([...CURRENCIES].sort()).toEqual(CURRENCIES);
  expect(CURRENCIES).toEqual(expect.arrayContaining(['EUR', 'USD', 'JPY', 'INR', 'XAU', 'CLF', 'ZWG', 'XCG']));
});

test('every rate is above zero with at most six digits, and a currency is worth one of itself', () => {
  fc.assert(
    fc.property(seed, moment, currency, currency, (seed, at, base, other) => {
      const rate = inventRates(seed, at)(base, other);

      expect(rate).toBeGreaterThan(0);
      expect(Number(rate.toPrecision(6))).toBe(rate);
      if (base === other) expect(rate).toBe(1);
    }),
  );
});

test('rates are consistent: a to b times b to c is a to c', () => {
  fc.assert(
    fc.property(seed, moment, fc.tuple(currency, currency, currency), (seed, at, [a, b, c]) => {
      const rate = inventRates(seed, at);

      expect((rate(a, b) * rate(b, c)) / rate(a, c)).toBeCloseTo(1, 4);
    }),
  );
});

test('a rate changes a little with every snapshot and stays near its usual value', () => {
  const day = Array.from({ length: 289 }, (_, step) => inventRates(1, JANUARY + step * 300_000)('USD', 'EUR'));
  const steps = day.slice(1).map((rate, index) => Math.abs(rate / day[index]! - 1));
  const years = Array.from({ length: 500 }, (_, week) => inventRates(1, week * 7 * 86_400_000)('USD', 'EUR'));

  expect(steps.filter((step) => step > 0).length).toBeGreaterThan(280);
  expect(Math.max(...steps)).toBeLessThan(0.002);
  expect(Math.max(...day) / Math.min(...day)).toBeGreaterThan(1 + 2 * Math.max(...steps));
  expect(Math.min(...years)).toBeGreaterThan(0.75);
  expect(Math.max(...years)).toBeLessThan(0.95);
});

test('another seed, also one beyond 32 bits, gives other rates', () => {
  const eur = (seed: number) => inventRates(seed, JANUARY)('USD', 'EUR');

  expect(new Set([0, 1, 2, 2 ** 32, 2 ** 32 + 1, 2 ** 52].map(eur)).size).toBe(6);
  expect(inventRates(1, JANUARY)('SZL', 'LSL')).not.toBe(1);
});

test('on every version of Node and in every locale the rates are the same to the last digit', () => {
  const hash = createHash('sha256');
  for (const seed of [0, 1, 7, 2 ** 40]) {
    for (let at = JANUARY; at < JANUARY + 86_400_000; at += 3_600_000) {
      const rate = inventRates(seed, at);
      hash.update(JSON.stringify(CURRENCIES.map((currency) => rate('EUR', currency))));
    }
  }

  expect(hash.digest('hex')).toBe('3ede6670bb46b29fae90c4d3aa467bd0852aaada3c31baf0f1a8f6f827810bd9');
});
