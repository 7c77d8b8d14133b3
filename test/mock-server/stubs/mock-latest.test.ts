import { expect, test } from 'vitest';
import { connectMockServer, createMockServer } from '../../../src/mock-server/index.ts';

function asked(options = {}) {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false }, ...options });
  const { key } = mock.createKey({ plan: 'unlimited' });
  const text = async (query = '') =>
    (await mock.fetch(`${mock.baseUrl}/api/v1/latest${query}`, { headers: { authorization: key } })).text();
  const data = async (query = '') => JSON.parse(await text(query)).data;
  return { mock, key, text, data };
}

test('an object is the data of every response until reset', async () => {
  const { mock, data } = asked();

  mock.latest.set({ rates: { USD: 1.1 } });
  expect([await data(), await data('?base=GBP')]).toEqual([{ rates: { USD: 1.1 } }, { rates: { USD: 1.1 } }]);

  mock.latest.reset();
  expect(await data('?base=GBP')).toMatchObject({ base: 'GBP' });
});

test('an array is a sequence whose last element repeats', async () => {
  const { mock, data } = asked();
  mock.latest.set([{ n: 1 }, '{"n":2}']);

  expect([await data(), await data(), await data()]).toEqual([{ n: 1 }, { n: 2 }, { n: 2 }]);
});

test('a function returns the data for a query and can call invented()', async () => {
  const { mock, data } = asked();
  mock.latest.set((query, { invented, plan }) => ({ base: query.get('base'), plan, was: invented().base }));

  expect(await data('?base=EUR')).toEqual({ base: 'EUR', plan: 'unlimited', was: 'EUR' });
});

test('the data of one base takes precedence over the data of all', async () => {
  const { mock, data } = asked();
  mock.latest.set({ n: 'EUR' }, { base: 'EUR' });
  mock.latest.set({ n: 'all' });

  expect([await data('?base=EUR'), await data('?base=USD')]).toEqual([{ n: 'EUR' }, { n: 'all' }]);
  mock.latest.reset({ base: 'EUR' });
  expect(await data('?base=EUR')).toEqual({ n: 'all' });
});

test('reset() without a base also removes the data of each base, and keeps other stubs', async () => {
  const { mock, data } = asked();
  const { id } = mock.stubs.add({ match: { path: '/elsewhere' }, data: {} });
  mock.latest.set({ n: 'EUR' }, { base: 'EUR' });
  mock.latest.set({ n: 'all' });

  mock.latest.reset();

  expect(mock.stubs.list().map((stub) => stub.id)).toEqual([id]);
  expect(await data('?base=EUR')).not.toHaveProperty('n');
});

test('a stub takes precedence over mock.latest', async () => {
  const { mock, data } = asked();
  mock.stubs.add({ match: { operation: 'latest' }, data: { n: 'stub' }, times: 1 });
  mock.latest.set({ n: 'set' }, { base: 'EUR' });

  expect([await data('?base=EUR'), await data('?base=EUR')]).toEqual([{ n: 'stub' }, { n: 'set' }]);
});

test('JSON text keeps its digits', async () => {
  const { mock, text } = asked();
  mock.latest.set('[{"rate": 1.10}, {"a":"]},{", "rate": 1e2}]');

  expect([await text(), await text()]).toEqual([
    '{"success":true,"data":{"rate": 1.10}}',
    '{"success":true,"data":{"a":"]},{", "rate": 1e2}}',
  ]);
});

test('a recording returns its responses unchanged, and can be replaced', async () => {
  const { mock, text } = asked();
  mock.latest.replay('{ "base=EUR": {"success":true,"data":{"rate":1.10}}, "*": {"rate":2.0} }');
  expect([await text('?base=EUR'), await text()]).toEqual([
    '{"success":true,"data":{"rate":1.10}}',
    '{"success":true,"data":{"rate":2.0}}',
  ]);

  mock.latest.replay({ 'base=EUR': { rate: 3 } });

  expect(JSON.parse(await text('?base=EUR')).data).toEqual({ rate: 3 });
  expect(JSON.parse(await text('?base=USD')).error.code).toBe('not_recorded');
});

test('mock.latest takes precedence over the options latest and replay until a reset', async () => {
  const byFunction = asked({ latest: () => ({ n: 'option' }) });
  const byReplay = asked({ replay: '{"": {"n":"option"}}' });

  for (const { mock, data } of [byFunction, byReplay]) {
    mock.latest.set(() => ({ n: 'set' }));
    expect(await data()).toEqual({ n: 'set' });
    mock.latest.reset();
    expect(await data()).toEqual({ n: 'option' });
  }
});

test('the option latest accepts what latest.set() accepts, and copies it', async () => {
  const latest = { n: 1 };
  const { data } = asked({ latest });
  latest.n = 2;

  expect(await data()).toEqual({ n: 1 });
  const sequence = asked({ latest: [{ n: 2 }, { n: 3 }] });
  expect([await sequence.data(), await sequence.data(), await sequence.data()]).toEqual([{ n: 2 }, { n: 3 }, { n: 3 }]);
});

test.each<[unknown, string]>([
  [5, 'latest is 5; expected an object, an array of objects, a function'],
  [undefined, 'latest is undefined; expected an object, an array'],
  [[], 'latest is []; expected an object, an array of objects, '],
  [[{}, 5], 'latest[1] is 5; expected an object.'],
  ['nonsense', 'latest is "nonsense"; expected an object.'],
  [async () => ({}), 'latest is a function; expected a function that is not async.'],
  [new Map([['base', 'EUR']]), 'expected a value that JSON can represent'],
  [Promise.resolve({ base: 'EUR' }), 'expected a value that JSON can represent'],
  [Buffer.from('{}'), 'expected a value that JSON can represent'],
  [{ rates: { USD: Number.NaN } }, 'latest is {"rates":{"USD":"NaN"}}; expected a value that JSON can represent.'],
])('the data %j is refused', (data, message) => {
  expect(() => asked().mock.latest.set(data as object)).toThrow(message);
});

test.each(['EUR', 'eur', 'Eur'])('the base %s is set for requests in upper and lower case', async (base) => {
  const { mock, data } = asked();
  mock.latest.set({ n: 'before' }, { base: 'eUR' });
  mock.latest.set({ n: 1 }, { base });

  expect([await data('?base=EUR'), await data('?base=eur')]).toEqual([{ n: 1 }, { n: 1 }]);
  expect(await data('?base=GBP')).toMatchObject({ base: 'GBP' });
  expect(mock.stubs.list()).toHaveLength(1);
  mock.latest.reset({ base });
  expect(await data('?base=EUR')).toMatchObject({ base: 'EUR' });
  expect(() => mock.latest.set({}, { base: '' })).toThrow('base is ""; expected a currency code such as EUR.');
});

test('over HTTP the data keeps its digits, for all queries and for one base', async () => {
  const { mock, text } = asked();
  await using server = await mock.serve();
  const admin = (method: string, path: string, body?: string) =>
    fetch(`${server.url}/__fxrates${path}`, {
      method,
      headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });

  expect((await admin('PUT', '/latest', '[{"rate":1.10},{"rate":1.20}]')).status).toBe(204);
  expect((await admin('PUT', '/latest?base=EUR', '{"rate":2.00}')).status).toBe(204);
  const responses = [await text(), await text('?base=EUR'), await text()];
  expect(responses.map((response) => /"rate":([\d.]+)/.exec(response)?.[1])).toEqual(['1.10', '2.00', '1.20']);

  expect((await admin('PUT', '/latest/replay', '{"base=EUR":{"rate":3.00}}')).status).toBe(204);
  expect((await admin('DELETE', '/latest?base=EUR')).status).toBe(204);
  expect(await text('?base=EUR')).toContain('3.00');
  expect(await (await admin('PUT', '/latest', '5')).json()).toMatchObject({
    error: { code: 'invalid_option', field: 'latest' },
  });
  expect((await admin('DELETE', '/latest')).status).toBe(204);
  expect(await text()).toContain('invented');
});

test('another process sets stubs and the data of latest with the same methods', async () => {
  await using mock = createMockServer();
  const { key } = mock.createKey();
  const remote = connectMockServer((await mock.serve()).adminUrl);
  const text = async (query: string) =>
    (await fetch(`${remote.baseUrl}/api/v1/latest?${query}`, { headers: { authorization: key } })).text();

  await remote.latest.set([{ n: 1 }, '{"n":2.0}']);
  await remote.latest.set('{"n":3.0}', { base: 'EUR' });
  const { id } = await remote.stubs.add({ match: { query: { base: /^GB/ } }, status: 404, times: 1 });

  expect([await text(''), await text(''), await text('base=EUR'), await text('base=GBP')]).toEqual([
    '{"success":true,"data":{"n":1}}',
    '{"success":true,"data":{"n":2.0}}',
    '{"success":true,"data":{"n":3.0}}',
    expect.stringContaining('not_found'),
  ]);
  await remote.expectRequests({ stub: id }).toHaveCount(1);
  await remote.latest.replay({ '': '{"n":4.0}' });
  expect(await text('')).toContain('4.0');
  await remote.latest.reset({ base: 'EUR' });
  expect([await text('base=EUR'), await text('')]).toEqual([
    expect.stringContaining('not_recorded'),
    expect.stringContaining('4.0'),
  ]);
  await remote.latest.reset();
  await remote.stubs.clear();
  expect(await remote.stubs.list()).toEqual([]);
});
