import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { NumberParser } from '../../src/client/index.ts';
import { parseData } from '../../src/client/numbers.ts';
import { quotaRecord, success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

/** What a double cannot keep: trailing zeros, more than 17 digits, -0, an exponent beyond its range. */
const BODY =
  '{"success": true, "data": {"rates": {"EUR": 1.10, "JPY": 0.12345678901234567890}, "list": [-0, [1e400], "2.50"]}}';
const EXACT = { rates: { EUR: '1.10', JPY: '0.12345678901234567890' }, list: ['-0', ['1e400'], '2.50'] };
const reply = { body: BODY };

test('returns each number as a string with all digits', () => {
  expect(parseData(BODY, 'string')).toEqual(EXACT);
});

test('passes each number to the function, with its path', () => {
  const seen: unknown[] = [];
  const note: NumberParser = (text, path) => seen.push([text, ...path]);

  parseData(BODY, note);

  expect(seen).toEqual([
    ['1.10', 'rates', 'EUR'],
    ['0.12345678901234567890', 'rates', 'JPY'],
    ['-0', 'list', 0],
    ['1e400', 'list', 1, 0],
  ]);
});

test('uses the result of the function, also if it or the data itself is a number', () => {
  expect(parseData('{"data": {"a": [3, 2, 1]}}', (text) => Number(text) - 1)).toEqual({ a: [2, 1, 0] });
  expect(parseData('{"data": 7.0}', (text, path) => [text, ...path])).toEqual(['7.0']);
  expect(parseData('{"data": null}', String)).toBeNull();
});

const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('1.10', '"1', '\\', '\\"2', '[3', 'x:4,5')),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', '2', 'a"1')), tie('value')),
  ),
})).value;

test('differs from JSON.parse in the numbers alone, for any data', () => {
  fc.assert(
    fc.property(data, fc.integer({ min: 0, max: 3 }), (value, indent) => {
      const text = JSON.stringify({ success: true, data: value }, undefined, indent);
      const expected = (JSON.parse(text) as { data: unknown }).data;

      expect(JSON.stringify(parseData(text, Number))).toBe(JSON.stringify(expected));
      const texts = JSON.stringify(expected, (_, part) => (typeof part === 'number' ? JSON.stringify(part) : part));
      expect(JSON.stringify(parseData(text, 'string'))).toBe(texts);
    }),
  );
});

test('the last of equal names applies, and __proto__ is an ordinary name', () => {
  const text = '{"data": {"a": 1.0, "a": 2.0, "__proto__": {"b": 3.0}}}';

  const parsed = parseData(text, String) as object;

  expect(Object.entries(parsed)).toEqual([
    ['a', '2.0'],
    ['__proto__', { b: '3.0' }],
  ]);
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test.each(['string', (text: string) => text] as const)('converts data of any depth in linear time', (numbers) => {
  const depth = 300_000;

  const parsed = parseData(`{"data": ${'[1,'.repeat(depth)}2${']'.repeat(depth)}}`, numbers);

  expect((parsed as unknown[])[0]).toBe('1');
});

test('is an option of the client and of a call, which takes precedence', async () => {
  const { fx } = testClient(reply, { numbers: 'string' as never });

  expect(await fx.latest()).toEqual(EXACT);
  expect(await fx.latest({}, { numbers: 'number' })).toMatchObject({ rates: { EUR: 1.1 } });
  expect(await fx.latest({}, { numbers: (text) => text.length })).toMatchObject({ rates: { EUR: 4 } });
  expect(await fx.withOptions({ numbers: 'number' }).latest()).toMatchObject({ rates: { EUR: 1.1 } });
  expect(await fx.withOptions({ timeoutMs: 5_000 }).latest()).toEqual(EXACT);
});

test('calls that share a request each receive their own type of numbers', async () => {
  const { fx, fetch } = testClient(reply);

  const calls = [fx.latest(), fx.latest({}, { numbers: 'string' }), fx.latest({}, { numbers: (text) => `#${text}` })];

  const rates = { rates: { EUR: 1.1 } };
  expect(await Promise.all(calls)).toMatchObject([rates, { rates: EXACT.rates }, { rates: { EUR: '#1.10' } }]);
  expect(fetch.requests).toHaveLength(1);
});

test('a cached response is converted for each call', async () => {
  const { fx, fetch } = testClient(reply, { cache: { maxAgeMs: 60_000 } });

  const first = await fx.latest({}, { numbers: 'string' });
  const second = await fx.latest();
  const third = await fx.latest({}, { numbers: 'string' });

  expect([first, second, third]).toMatchObject([EXACT, { rates: { EUR: 1.1 } }, EXACT]);
  expect(fetch.requests).toHaveLength(1);
});

test('applies to get, batch and poll', async () => {
  const { fx } = testClient(reply, { quota: success(quotaRecord()) });
  const numbers = 'string';

  expect(await fx.get('/api/v1/other', { numbers })).toEqual(EXACT);
  for await (const { value } of fx.batch([{}], { numbers })) expect(value).toEqual(EXACT);
  for await (const rates of fx.poll({}, { numbers })) {
    expect(rates).toEqual(EXACT);
    break;
  }
});

test('the contract is checked first, and a schema gets the converted data', async () => {
  const { fx } = testClient({ body: '{"success":true,"data":{"plan":"free","monthly_used":1.50}}' });
  const schema = z.object({ rates: z.record(z.string(), z.string().regex(/^\d+\.\d+$/)) });

  const wrong = await errorOf(fx.quota({ numbers: 'string' }));
  const right = await testClient(reply).fx.latest({}, { numbers: 'string', schema });
  const mismatch = await errorOf(testClient(reply).fx.latest({}, { schema }));

  expect(wrong).toMatchObject({ kind: 'response', message: expect.stringContaining('data.monthly_used') });
  expect(right).toEqual({ rates: EXACT.rates });
  expect(mismatch).toMatchObject({ kind: 'response' });
});

test('quota() returns the chosen type, and the client still counts with numbers', async () => {
  const { fx } = testClient(success(quotaRecord()), { numbers: 'string' as never });

  expect(await fx.quota()).toMatchObject({ monthly_used: '742', monthly_limit: '1000', plan: 'free' });
  expect(fx.quotaEstimate()).toMatchObject({ remaining: 258, quota: { monthly_used: 742 } });
});

test('the quota() of a poll does not use the function of the client', async () => {
  const seen: string[] = [];
  const numbers = (text: string) => seen.push(text);
  const { fx, clock } = testClient(reply, { quota: success(quotaRecord()), numbers: numbers as never });

  const poll = fx.poll()[Symbol.asyncIterator]();
  await clock.run(poll.next());
  await clock.run(poll.next());

  expect(new Set(seen)).toEqual(new Set(['1.10', '0.12345678901234567890', '-0', '1e400']));
});

test('an error of the function rejects the call unchanged', async () => {
  const failure = new Error('too long');
  const numbers = () => {
    throw failure;
  };

  expect(await errorOf(testClient(reply).fx.latest({}, { numbers }))).toBe(failure);
});

test.each([null, 'bigint', 5])('numbers cannot be %o', async (numbers) => {
  const error = await errorOf(testClient(reply).fx.latest({}, { numbers: numbers as never }));

  expect(error).toMatchObject({ kind: 'config', message: expect.stringMatching(/^numbers: expected 'number'/) });
});
