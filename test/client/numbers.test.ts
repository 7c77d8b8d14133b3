import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { dataWithTextNumbers } from '../../src/client/api-call.ts';
import type { Reply } from '../helpers/fake-fetch.ts';
import { quotaRecord, success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

/** What a double cannot keep: trailing zeros, more than 17 digits, -0, an exponent beyond its range. */
const BODY =
  '{"success": true, "data": {"rates": {"EUR": 1.10, "JPY": 0.12345678901234567890}, "list": [-0, [1e400], "2.50"]}}';
const EXACT = { rates: { EUR: '1.10', JPY: '0.12345678901234567890' }, list: ['-0', ['1e400'], '2.50'] };
const reply = { body: BODY };

function textClient(replies: Reply, options: Parameters<typeof testClient>[1] = {}) {
  return testClient(replies, { ...options, numbers: 'string' as never });
}

test('returns each number as a string with all digits', () => {
  expect(dataWithTextNumbers(BODY)).toEqual(EXACT);
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

      const texts = JSON.stringify(expected, (_, part) => (typeof part === 'number' ? JSON.stringify(part) : part));
      expect(JSON.stringify(dataWithTextNumbers(text))).toBe(texts);
    }),
  );
});

test('the last of equal names applies, and __proto__ is an ordinary name', () => {
  const text = '{"data": {"a": 1.0, "a": 2.0, "__proto__": {"b": 3.0}}}';

  const parsed = dataWithTextNumbers(text) as object;

  expect(Object.entries(parsed)).toEqual([
    ['a', '2.0'],
    ['__proto__', { b: '3.0' }],
  ]);
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test('converts data of any depth in linear time', () => {
  const depth = 300_000;

  const parsed = dataWithTextNumbers(`{"data": ${'[1,'.repeat(depth)}2${']'.repeat(depth)}}`);

  expect((parsed as unknown[])[0]).toBe('1');
});

test('applies to latest, get, batch and poll of the client', async () => {
  const { fx } = textClient(reply, { quota: success(quotaRecord()) });

  expect(await fx.latest()).toEqual(EXACT);
  expect(await fx.get('/api/v1/other')).toEqual(EXACT);
  for await (const { value } of fx.batch([{}])) expect(value).toEqual(EXACT);
  for await (const rates of fx.poll()) {
    expect(rates).toEqual(EXACT);
    break;
  }
});

test('clients of withOptions() override and inherit it, and share cached responses', async () => {
  const { fx, fetch } = textClient(reply, { cache: { maxAgeMs: 60_000 } });

  const first = await fx.latest();
  const second = await fx.withOptions({ numbers: 'number' }).latest();
  const third = await fx.withOptions({ timeoutMs: 5_000 }).latest();

  expect([first, second, third]).toMatchObject([EXACT, { rates: { EUR: 1.1 } }, EXACT]);
  expect(fetch.requests).toHaveLength(1);
});

test('the contract is checked first, and a schema gets the converted data', async () => {
  const { fx } = textClient({ body: '{"success":true,"data":{"plan":"free","monthly_used":1.50}}' });
  const schema = z.object({ rates: z.record(z.string(), z.string().regex(/^\d+\.\d+$/)) });

  const wrong = await errorOf(fx.quota());
  const right = await textClient(reply).fx.latest({}, { schema });
  const mismatch = await errorOf(testClient(reply).fx.latest({}, { schema }));

  expect(wrong).toMatchObject({ kind: 'response', message: expect.stringContaining('data.monthly_used') });
  expect(right).toEqual({ rates: EXACT.rates });
  expect(mismatch).toMatchObject({ kind: 'response' });
});

test('quota() returns the chosen type, and the client still counts with numbers', async () => {
  const { fx } = textClient(success(quotaRecord()));

  expect(await fx.quota()).toMatchObject({ monthly_used: '742', monthly_limit: '1000', plan: 'free' });
  expect(fx.quotaEstimate()).toMatchObject({ remaining: 258, quota: { monthly_used: 742 } });
});

test('quota() gives the program text, and the poll numbers', async () => {
  const { fx, clock } = textClient(reply, { quota: success(quotaRecord()) });

  const poll = fx.poll().withMeta()[Symbol.asyncIterator]();
  await clock.run(poll.next());
  const second = await clock.run(poll.next());

  expect(second.value).toMatchObject({ data: EXACT, next: { reason: 'quota' } });
});
