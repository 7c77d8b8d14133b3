import { expect, test } from 'vitest';
import {
  connectMockServer,
  createMockServer,
  type FaultOptions,
  type MockServer,
} from '../../../src/mock-server/index.ts';
import { quiet } from '../../helpers/fake-clock.ts';

test.each<[unknown, RegExp]>([
  [undefined, /^fault is undefined; expected an object with a kind/],
  [{ kind: 'explode' }, /^kind is "explode"; expected one of latency, hang, status/],
  [{ kind: 'latency' }, /^latencyMs is undefined; expected milliseconds from 0/],
  [{ kind: 'latency', latencyMs: -1 }, /^latencyMs is -1/],
  [
    { kind: 'latency', latencyMS: 5 },
    /^latencyMS is not a setting of a latency fault; did you mean latencyMs\? Valid names: id, match, .*latencyMs/,
  ],
  [{ kind: 'hang', status: 500 }, /^status is not a setting of a hang fault/],
  [{ kind: 'status', status: 99 }, /^status is 99; expected an HTTP status from 200 to 599/],
  [{ kind: 'status', status: 500, headers: { 'content-length': '3' } }, /^headers is .* without content-length/],
  [{ kind: 'status', status: 500, headers: { 'x-a': 'b\r\nc: d' } }, /^headers is/],
  [{ kind: 'status', status: 500, headers: { Trailer: 'x-a' } }, /^headers is/],
  [{ kind: 'status', status: 204, body: 'x' }, /^body is "x"; expected no body, because a response with status 204 /],
  [{ kind: 'status', status: 500, headers: JSON.parse('{"__proto__":"x"}') }, /^headers is .* other than __proto__/],
  [{ kind: 'status', status: 503, code: 'x', body: '{}' }, /^code is "x"; expected either code or body/],
  [{ kind: 'truncate', afterBytes: 1.5 }, /^afterBytes is 1.5; expected a whole number of bytes from 0/],
  [
    { kind: 'truncate', afterBytes: 1, strikes: 'before' },
    /^strikes is "before"; expected 'after', because a truncate fault changes/,
  ],
  [
    { kind: 'reset', afterBytes: 1, strikes: 'before' },
    /^afterBytes is 1; expected no afterBytes with strikes: 'before'/,
  ],
  [{ kind: 'hang', match: { status: 429 }, strikes: 'before' }, /^match.status is 429/],
  [{ kind: 'hang', strikes: 'during' }, /^strikes is "during"; expected 'before' or 'after'/],
  [{ kind: 'hang', nth: 0 }, /^nth is 0; expected the position of a request/],
  [{ kind: 'hang', nth: [] }, /^nth is \[\]/],
  [{ kind: 'hang', times: 0 }, /^times is 0/],
  [{ kind: 'hang', probability: 1.1 }, /^probability is 1.1; expected a number from 0 to 1/],
  [{ kind: 'hang', probability: Number.NaN }, /^probability is NaN/],
  [{ kind: 'hang', forMs: 0 }, /^forMs is 0/],
  [{ kind: 'hang', id: 'a b' }, /^id is "a b"/],
  [{ kind: 'hang', match: { operation: 'lates' } }, /^match.operation is "lates"; expected one of latest, /],
  [{ kind: 'hang', match: { keyId: 'key_9' } }, /^match.keyId is "key_9"; expected the id of a key of this mock/],
  [{ kind: 'hang', match: { path: 'latest' } }, /^match.path is "latest"; expected a path such as/],
  [{ kind: 'hang', match: { via: 'pigeon' } }, /^match.via is "pigeon"; expected some of fetch, msw, socket/],
  [{ kind: 'hang', match: { url: '/' } }, /^match.url is not a field of match; valid names: operation/],
])('refuses %j and says why', (options, message) => {
  const mock = createMockServer();
  mock.faults.add({ kind: 'hang' });

  expect(() => mock.faults.add(options as FaultOptions)).toThrow(message);
  expect(mock.faults.list()).toHaveLength(1);
});

test('lists faults with their counts, removes one, removes all', async () => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  mock.faults.add({ kind: 'status', status: 500, match: { path: '/api/v1/quota' } });
  mock.faults.add({ kind: 'network-error', id: 'gone', nth: 9 });

  await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect(mock.faults.list()).toEqual([
    {
      kind: 'status',
      status: 500,
      match: { path: '/api/v1/quota' },
      id: 'fault_1',
      strikes: 'after',
      addedAt: Date.UTC(2026, 0, 15),
      matched: 1,
      struck: 1,
    },
    {
      kind: 'network-error',
      id: 'gone',
      nth: 9,
      strikes: 'after',
      addedAt: Date.UTC(2026, 0, 15),
      matched: 1,
      struck: 0,
    },
  ]);
  mock.faults.remove('fault_1');
  expect(mock.faults.list().map(({ id }) => id)).toEqual(['gone']);
  expect(() => mock.faults.remove('fault_1')).toThrow(
    /Fault "fault_1" does not exist or has expired; the only fault is gone\./,
  );
  mock.faults.clear();
  expect(mock.faults.list()).toEqual([]);
});

test('later changes to the options or the result do not change a fault', () => {
  const mock = createMockServer();
  const nth = [1];
  const fault = mock.faults.add({ kind: 'hang', nth });

  nth.push(2);
  (fault.nth as number[]).push(3);

  expect(mock.faults.list()).toMatchObject([{ nth: [1] }]);
});

test.each<[string, (mock: MockServer) => unknown]>([
  ['a reset', (mock) => mock.reset()],
  ['another fault with its id', (mock) => mock.faults.add({ id: 'a', kind: 'status', status: 503 })],
])('%s ends the requests that a hang fault blocks', async (_, act) => {
  const mock = createMockServer();
  mock.faults.add({ id: 'a', kind: 'hang' });
  let outcome = 'waits';
  mock.fetch(`${mock.baseUrl}/api/v1/quota`).catch(() => {
    outcome = 'failed';
  });
  await quiet();
  expect(outcome).toBe('waits');

  act(mock);
  await quiet();

  expect(outcome).toBe('failed');
});

test('rejects a request through mock.fetch that a socket fault would strike', async () => {
  await using mock = createMockServer();
  await mock.serve();
  mock.faults.add({ kind: 'garbage' });

  await expect(mock.fetch(`${mock.baseUrl}/api/v1/quota`)).rejects.toMatchObject({
    name: 'MockServerError',
    code: 'fault_not_possible',
  });
});

test('of two status faults, the journal has the code of the last one, as the client does', async () => {
  const mock = createMockServer();
  mock.faults.add({ kind: 'status', status: 500, code: 'broken' });
  mock.faults.add({ kind: 'status', status: 503, code: 'maintenance' });

  const response = await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect(await response.json()).toMatchObject({ error: { code: 'maintenance', status: 503 } });
  expect(mock.journal.list()).toMatchObject([{ code: 'maintenance', status: 503, faults: ['fault_1', 'fault_2'] }]);
});

test.each([
  [{ body: '{"error":"maintenance"}' }, 'application/json'],
  [{ body: '<h1>Bad Gateway</h1>' }, 'text/html'],
  [{ body: '{}', headers: { 'content-type': 'application/problem+json' } }, 'application/problem+json'],
])('the body of a status fault with %j has the content type %s', async (settings, type) => {
  const mock = createMockServer();
  mock.faults.add({ kind: 'status', status: 502, ...settings });

  const { headers } = await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect(headers.get('content-type')).toBe(type);
});

test.each<FaultOptions>([
  { kind: 'status', status: 503, headers: { 'x-tag': 'a' }, times: 2, match: { query: { base: /^eur$/i } } },
  { kind: 'latency', latencyMs: { min: 1, max: 2 }, strikes: 'before', forMs: 1000, nth: [1, 2] },
])('a fault that was read can be added again, in process and over HTTP: $kind', async (options) => {
  const setting = { seed: 1, clock: { mode: 'virtual', autoAdvance: false } } as const;
  await using mock = createMockServer(setting);
  const remote = connectMockServer((await mock.serve()).adminUrl);
  const added = mock.faults.add(options);

  expect(createMockServer(setting).faults.add(added)).toEqual(added);
  expect(createMockServer({ ...setting, setup: { faults: [added] } }).faults.list()).toEqual([added]);
  const [read] = await remote.faults.list();
  mock.faults.clear();
  expect(await remote.faults.add(read!)).toEqual(added);
});

test('a fault with the id of another one replaces it, starts again and strikes last', async () => {
  const mock = createMockServer();
  const { key } = mock.createKey();
  const ask = () => mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: key } });
  mock.faults.add({ id: 'a', kind: 'status', status: 500 });
  mock.faults.add({ id: 'b', kind: 'status', status: 502 });
  expect((await ask()).status).toBe(502);

  mock.faults.add({ id: 'a', kind: 'status', status: 503, times: 1 });

  expect(mock.faults.list()).toMatchObject([
    { id: 'b', struck: 1 },
    { id: 'a', status: 503, struck: 0 },
  ]);
  expect((await ask()).status).toBe(503);
});
