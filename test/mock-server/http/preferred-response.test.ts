import { expect, test } from 'vitest';
import { type Operation, operations } from '../../../src/generated/operations.ts';
import { responseSchemas } from '../../../src/generated/schemas.ts';
import { MockCore } from '../../helpers/mock-core.ts';

const prefer = (value: string) => ({ headers: { prefer: value } });

const documented = Object.values<Operation>(operations).flatMap(({ id, path, errors }) =>
  errors.map(({ status, code }) => ({ id, path, status: typeof status === 'number' ? status : 503, code })),
);

test.each(documented)('Prefer: code=$status gets the documented refusal of $id', ({ path, status, code }) => {
  const response = new MockCore().send(path, prefer(`code=${status}`));

  expect(response.status).toBe(status);
  expect(response.headers['preference-applied']).toBe(`code=${status}`);
  expect(response.body).toMatchObject({ success: false, error: { code: code ?? expect.any(String), status } });
});

test('a requested refusal is not counted and needs no key', () => {
  const core = new MockCore({ behaviour: { retryAfterUnit: 'milliseconds' } });
  const { id, key } = core.createKey();

  const refused = core.send('/api/v1/latest', { key, ...prefer('code=429') });
  const { data } = core.send('/api/v1/quota', { key });

  expect(refused.headers['retry-after']).toBe('1000');
  expect(data.monthly_used).toBe(0);
  expect(core.keys.get(id).month.used).toBe(0);
  expect(core.journal.entries.map(({ rate }) => rate?.used)).toEqual([undefined, 1]);
  expect(core.journal.entries[0]?.why).toContain('Prefer: code=429');
});

test.each(Object.values<Operation>(operations))('Prefer: code=200 gets the example of $id', ({ id, path }) => {
  const { status, body } = new MockCore().send(path, prefer('code=200'));

  expect(status).toBe(200);
  expect(responseSchemas[id as keyof typeof responseSchemas].safeParse(body).success).toBe(true);
});

test.each([
  ['Code="429"', 429],
  ['respond-async, code=429; extra=1', 429],
  ['wait=10, code=429, code=503', 429],
  ['return=minimal', 401],
  ['xcode=429', 401],
])('reads the preference %s', (value, status) => {
  expect(new MockCore().send('/api/v1/latest', prefer(value)).status).toBe(status);
});

test.each(['299', '304', '600', '', 'abc', '4.29e2'])('names a code that is not documented: %s', (code) => {
  const { status, body } = new MockCore().send('/api/v1/latest', prefer(`code=${code}`));

  expect(status).toBe(400);
  expect(body.error.code).toBe('unknown_preference');
  expect(body.error.message).toMatch(/selects no documented response of latest; documented: 200, 429, 400 to 599\.$/);
});

test.each([400, 599])('a default response covers the status %i', (status) => {
  const { body } = new MockCore().send('/api/v1/latest', prefer(`code=${status}`));

  expect(body.error).toMatchObject({ status });
  expect(body.error.code).not.toBe('unknown_preference');
});

test('a range covers only its statuses', () => {
  const errors: Operation['errors'] = [{ status: '5XX', code: 'broken', headers: [], example: undefined }];
  const core = new MockCore({ operations: { latest: { ...operations.latest, errors } } });

  expect(core.send('/api/v1/latest', prefer('code=502'))).toMatchObject({ status: 502, code: 'broken' });
  expect(core.send('/api/v1/latest', prefer('code=404'))).toMatchObject({ status: 400, code: 'unknown_preference' });
});

test('a key in the preference is not repeated', () => {
  const core = new MockCore();
  const { key } = core.createKey();

  const { text } = core.send('/api/v1/latest', prefer(`code=${key}`));

  expect(text).not.toContain(key.slice(8));
});
