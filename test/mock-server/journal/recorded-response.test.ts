import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HttpResponse, http } from 'msw';
import { expect, test } from 'vitest';
import { createMockServer, type FaultOptions } from '../../../src/mock-server/index.ts';

function newMock(options = {}) {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false }, ...options });
  const { key } = mock.createKey({ plan: 'unlimited' });
  const send = async (method = 'GET') => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { method, headers }).catch(() => undefined);
    return await response?.text().catch(() => undefined);
  };
  return { mock, key, send };
}

test('an entry contains the body that the client received', async () => {
  const { mock, send } = newMock();
  const bodies = [await send()];
  mock.stubs.add({ body: 'ünïcode' });
  bodies.push(await send());
  mock.use(http.get(`${mock.baseUrl}/api/v1/latest`, () => HttpResponse.text('own')));
  bodies.push(await send());

  expect(mock.journal.list().map(({ responseBody }) => responseBody)).toEqual(bodies);
  expect(bodies.slice(1)).toEqual(['ünïcode', 'own']);
});

test('HEAD and a status without content have no body', async () => {
  const { mock, send } = newMock();
  await send('HEAD');
  mock.stubs.add({ status: 204 });
  await send();

  expect(mock.journal.list().map(({ responseBody }) => responseBody)).toEqual([undefined, undefined]);
});

test.each<[FaultOptions, string | undefined]>([
  [{ kind: 'status', status: 503, body: 'down' }, 'down'],
  [{ kind: 'bad-json' }, '{"success":t'],
  [{ kind: 'truncate', afterBytes: 5 }, '{"suc'],
  [{ kind: 'reset', afterBytes: 3 }, '{"s'],
  [{ kind: 'truncate', afterBytes: 0 }, undefined],
  [{ kind: 'reset' }, undefined],
  [{ kind: 'network-error' }, undefined],
  [{ kind: 'status', status: 503, strikes: 'before', body: 'down' }, 'down'],
  [{ kind: 'dribble', intervalMs: 0 }, '{"success":true,"data":1}'],
])('with the fault %j the entry has the body %j', async (fault, body) => {
  const { mock, send } = newMock();
  mock.stubs.add({ data: 1 });
  mock.faults.add(fault);
  await send();

  expect(mock.journal.list()[0]?.responseBody).toBe(body);
});

test('an entry contains the headers that the client received', async () => {
  const mock = createMockServer({ behaviour: { cors: 'any-origin', rateHeaders: 'x-ratelimit' }, clock: 'virtual' });
  const { key } = mock.createKey();
  const url = `${mock.baseUrl}/api/v1/latest`;
  const response = await mock.fetch(url, { headers: { authorization: `Bearer ${key}` } });
  mock.stubs.add({ data: 1, headers: { 'set-cookie': ['a=1', 'b=2'], 'x-echo': key } });
  await mock.fetch(url, { headers: { authorization: `Bearer ${key}` } });

  const [first, second] = mock.journal.list();
  expect(first?.responseHeaders).toEqual(Object.fromEntries(response.headers));
  expect(first?.responseHeaders).toMatchObject({
    'x-ratelimit-remaining': '29',
    'access-control-allow-origin': '*',
    'content-type': 'application/json',
  });
  expect(second?.responseHeaders).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'x-echo': 'fx_live_…' });
});

test('an entry contains the headers after the faults, and none without a response', async () => {
  const { mock, send } = newMock();
  mock.faults.add({ kind: 'status', status: 503, headers: { 'retry-after': '7' }, times: 1 });
  await send();
  mock.faults.add({ kind: 'network-error' });
  await send();

  const [refused, broken] = mock.journal.list();
  expect(refused?.responseHeaders).toMatchObject({ 'retry-after': '7' });
  expect(broken).toMatchObject({ status: 0, responseHeaders: undefined });
});

test('keys in a body are masked, and a long body is cut', async () => {
  const { mock, key, send } = newMock();
  mock.stubs.add({ responses: [{ data: key }, { body: `${'x'.repeat(16_380)}${key}` }] });
  await send();
  await send();

  const [masked, cut] = mock.journal.list().map(({ responseBody }) => responseBody);
  expect(masked).toBe('{"success":true,"data":"fx_live_…"}');
  expect(cut).toBe(`${'x'.repeat(16_380)}fx_l`);
});

test('the journal does not keep long bodies in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  let call = 0;
  const latest = () => {
    call += 1;
    return { text: String(call).repeat(1_000_000) };
  };
  const { mock, send } = newMock({ latest });
  await send();
  const before = used();

  for (let request = 0; request < 40; request += 1) await send();

  expect(mock.journal.list()).toHaveLength(41);
  expect(used() - before).toBeLessThan(10_000_000); // 40 bodies have 72 MB
});
