import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createMockServer, type MockServer, recordedRules, type Setup } from '../../../src/mock-server/index.ts';
import { mockWithKey, sender } from '../../helpers/mock-with-key.ts';

const SETUP = `{
  "keys": [{ "plan": "developer", "usage": { "month": 7, "minute": 300 } }, { "plan": "unlimited" }, { "revoked": true },
    { "usage": { "month": 1000 } }],
  "behaviour": { "quotaExhausted": "402 quota_exceeded" },
  "rules": [
    { "id": "latest", "respond": [{ "data": { "USD": 1.10 } }, { "data": { "USD": 1.20 } }] },
    { "match": { "query": { "base": "XXX" } }, "respond": { "data": { "base": 2.0 } }, "times": 1 },
    { "respond": { "status": 503 }, "nth": 1, "match": { "query": { "slow": "1" } } },
    { "respond": { "status": 502 }, "match": { "keyId": "key_2", "query": { "down": "1" } } }
  ]
}`;

async function bodyOf(target: Parameters<typeof sender>[0], query: string, key = ''): Promise<string> {
  const { status, text } = await sender(target, key)(`/api/v1/latest${query}`);
  return `${status} ${text}`;
}

/** The responses that show the whole setup, from the first request on. */
async function responsesOf(mock: MockServer, keys = mock.setupKeys): Promise<readonly string[]> {
  const [limited, second, revoked, usedUp] = keys.map(({ key }) => key);
  const responses: string[] = [];
  for (const key of [limited, revoked, usedUp]) responses.push(await bodyOf(mock, '', key));
  for (const query of ['', '', '?base=XXX', '?base=XXX', '?slow=1', '?slow=1', '?down=1'])
    responses.push(await bodyOf(mock, query, second));
  return responses;
}

const RESPONSES = [
  expect.stringMatching(/^429 .*rate_limited/),
  expect.stringMatching(/^40[13] /),
  expect.stringMatching(/^402 .*quota_exceeded/),
  '200 {"success":true,"data":{ "USD": 1.10 }}',
  '200 {"success":true,"data":{ "USD": 1.20 }}',
  '200 {"success":true,"data":{ "base": 2.0 }}',
  '200 {"success":true,"data":{ "USD": 1.20 }}',
  expect.stringMatching(/^503 /),
  '200 {"success":true,"data":{ "USD": 1.20 }}',
  expect.stringMatching(/^502 /),
];

test('a setup creates keys, changes switches, and adds rules', async () => {
  const mock = createMockServer({ clock: 'virtual' });

  const { keys } = mock.setUp(SETUP);

  expect(keys.map(({ id }) => id)).toEqual(['key_1', 'key_2', 'key_3', 'key_4']);
  expect(mock.accounts.list().map(({ plan }) => plan)).toEqual(['developer', 'unlimited', 'free', 'free']);
  expect(await responsesOf(mock, keys)).toEqual(RESPONSES);
});

test('the setup of a space does not change the mock', async () => {
  const mock = createMockServer({ clock: 'virtual' });
  const space = mock.space();

  space.setUp({
    rules: [
      { respond: [{ data: { rates: { USD: 1 } } }, { data: { rates: { USD: 2 } } }] },
      { match: { query: { base: /^X/ } }, respond: { data: 3 } },
    ],
  });

  const responses = [];
  for (const query of ['', '', '?base=XXX']) responses.push(await bodyOf(space, query, space.key));
  expect(responses.map((response) => JSON.parse(response.slice(4)).data)).toEqual([
    { rates: { USD: 1 } },
    { rates: { USD: 2 } },
    3,
  ]);
  expect(mock.rules.list()).toEqual([]);
});

test('a file may have a byte order mark', async () => {
  const mock = createMockServer({ clock: 'virtual' });

  const { keys } = mock.setUp('\uFEFF{ "keys": [{}], "rules": [{ "respond": { "data": { "USD": 1.10 } } }] }');

  expect(await bodyOf(mock, '?base=EUR', keys[0]?.key)).toBe('200 {"success":true,"data":{ "USD": 1.10 }}');
});

const OWN_ID = 'expected an id of its own among the rules.';

test.each<[string | object, string]>([
  ['{', 'setup is "{"; expected a setup as JSON.'],
  ['./setup.json', 'setup is "./setup.json"; expected a setup as JSON: the content of the file, not its path.'],
  ['{\n  "keys": [{},]\n}', '\\n}"; expected a setup as JSON. It is wrong at line 2, column 15.'],
  ['[]', 'setup is []; expected an object.'],
  ['{ "rule": [] }', 'rule is not a field of a setup; did you mean rules? Valid names: keys, behaviour, rules.'],
  [{ rules: {} }, 'rules is {}; expected an array.'],
  [
    { rules: [{ respond: [{ data: 1, body: 2 }] }] },
    'rules[0].respond[0] is {"data":1,"body":2}; expected at most one',
  ],
  [{ rules: ['a', 'b', 'a'].map((id) => ({ id, delayMs: 1 })) }, `rules[2].id is "a"; ${OWN_ID}`],
  [{ keys: [{}], rules: [{ delayMs: 1, match: { keyId: 'key_2' } }] }, 'rules[0].match.keyId is "key_2"; expected the'],
  [{ keys: [{ plan: 'gold' }] }, 'keys[0].plan is "gold"; expected one of free, developer, unlimited.'],
  [{ keys: [{ key: 'fx_live_0' }] }, 'keys[0].key is not a field of a key; valid names: plan, limits, usage, revoked.'],
  [{ behaviour: { rateWindows: 'x' } }, 'behaviour.rateWindows is not a switch; did you mean rateWindow?'],
  [{ keys: [{ usage: { minute: 31 } }] }, 'keys[0].usage.minute is 31; expected a whole number from 0 to 30, the '],
])('the setup %j is refused', (setup, message) => {
  const field = message.startsWith('\\n') ? 'setup' : message.split(/:? /)[0];
  const error = expect.objectContaining({ message: expect.stringContaining(message), field });
  expect(() => createMockServer().setUp(setup as Setup)).toThrow(error);
});

const queries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, day) => [`date=${day}`, {}]));
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, name) => [`p${name}`, 'x']));
const cookies = { 'set-cookie': Array(1_001).fill('a=1') };
const manyRequests = Array(11).fill({ limits: { requests: 1e6 }, usage: { minute: 100_000 } });

/** By the message of the refusal. */
const TOO_MANY: Readonly<Record<string, (mock: MockServer) => unknown>> = {
  'keys has 2001 entries; expected at most 2000.': (mock) => mock.setUp({ keys: Array(2_001).fill({}) }),
  'keys have 1100000 requests in usage.minute; expected at most 1000000 of all keys.': (mock) =>
    mock.setUp({ keys: manyRequests }),
  'rules has 2001 entries; expected at most 2000': (mock) => mock.setUp({ rules: Array(2_001).fill({ delayMs: 1 }) }),
  'rules has 2001 entries; expected at most 2000.': (mock) => mock.setUp(`{"rules":[${'{},'.repeat(2_000)}{}]}`),
  'rules[0].respond has 10001 entries; expected at most 10000.': (mock) =>
    mock.setUp({ rules: [{ respond: Array(10_001).fill({ status: 503 }) }] }),
  'latest has 10001 entries; expected at most 10000.': (mock) => mock.latest.set(Array(10_001).fill({})),
  'recording has 2000 entries; expected at most 1999.': () =>
    recordedRules(Array.from({ length: 2_000 }, (_, day) => `{"date=${day}":{}}`).join('\n')),
  'recording has more than 1999 queries, such as "date=1999"; record fewer.': () =>
    recordedRules(JSON.stringify(queries(2_001))),
  'expected at most 1000 values of set-cookie.': (mock) => mock.rules.add({ respond: { body: '', headers: cookies } }),
  'match.path is "/**': (mock) => mock.rules.add({ delayMs: 1, match: { path: `/${'*'.repeat(16_384)}` } }),
  'expected at most 100 names.': (mock) => mock.rules.add({ delayMs: 1, match: { query: names(101) } }),
};

test.each(Object.entries(TOO_MANY))('more than a process checks at once is refused: %s', (message, act) => {
  const mock = createMockServer();

  expect(() => act(mock)).toThrow(message);
  expect(mock.snapshot()).toMatchObject({ keys: [], rules: [] });
});

test('an invalid setup changes nothing, not even the per-minute windows', async () => {
  const behaviour = { quotaEndpointBucket: 'separate' } as const;
  const { mock, id, key } = mockWithKey({ clock: { mode: 'virtual', frozen: true }, behaviour });
  await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: `Bearer ${key}` } });
  mock.keys.setUsage(id, { minute: 30 });
  mock.rules.add({ respond: () => ({ data: 1 }) });
  const before = [mock.snapshot(), mock.rules.list(), mock.behaviour.describe()];

  const rules = [{ delayMs: 1 }, { delayMs: 1, times: 0 }];
  const setup = { ...JSON.parse(SETUP), behaviour: { rateWindow: 'token-bucket' }, rules };
  expect(() => mock.setUp(setup)).toThrow('rules[1].times is 0;');

  expect([mock.snapshot(), mock.rules.list(), mock.behaviour.describe()]).toEqual(before);
});

test('the setup file in the documentation is valid', () => {
  const page = readFileSync(new URL('../../../docs/mock-server.md', import.meta.url), 'utf8');
  const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];

  expect(createMockServer().setUp(example).keys).toHaveLength(3);
});

const summary = ({ accounts, keys, rules, behaviour }: MockServer) => ({
  plans: accounts.list().map(({ plan }) => plan),
  keys: keys.list().map(({ id, masked, state, month }) => [id, masked, state, month.used]),
  rules: rules.list(),
  switches: behaviour.values,
});

test('reset() restores the option setup, but not what was set up later', async () => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false }, setup: SETUP });
  const atStart = summary(mock);
  const keys = mock.setupKeys;
  expect(await responsesOf(mock)).toEqual(RESPONSES);
  mock.setUp({ keys: [{}], rules: [{ respond: { data: 3 } }, { fail: { kind: 'hang' } }] });
  mock.setUp({ behaviour: 'hostile' });
  mock.keys.revoke('key_1');
  await mock.clock.advance(3_600_000);

  mock.reset();

  expect(summary(mock)).toEqual(atStart);
  expect(mock.setupKeys).toEqual(keys);
  expect(await responsesOf(mock)).toEqual(RESPONSES);
  expect(mock.rules.add({ respond: { data: 1 } }).id).toBe('rule_5');
});

test('a space starts with the setup of its mock, without its keys, also after a reset', async () => {
  const mock = createMockServer({ clock: 'virtual', setup: SETUP });
  const space = mock.space();
  const send = (query: string) => bodyOf(space, query, space.key);

  for (const round of [1, 2]) {
    expect([round, space.keys.list().length, space.behaviour.values.quotaExhausted]).toEqual([
      ...[round, 1],
      '402 quota_exceeded',
    ]);
    expect(await send('?slow=1')).toMatch(/^503 /);
    expect([await send(''), await send('?down=1')]).toEqual([RESPONSES[3], RESPONSES[4]]);
    expect([await send('?base=XXX'), await send('?base=XXX')]).toEqual([RESPONSES[5], RESPONSES[4]]);
    space.reset();
  }
  expect(mock.journal.list()).toEqual([]);
});

test('the option behaviour overrides the switches of the setup, also after a reset', () => {
  const setup = { behaviour: { severalCredentials: 'refused', unlimitedAs: -1 } } as const;
  const mock = createMockServer({ setup, behaviour: { severalCredentials: 'header' } });
  const values = mock.behaviour.values;
  mock.setUp({ behaviour: 'hostile' });

  mock.reset();

  expect(values).toMatchObject({ severalCredentials: 'header', unlimitedAs: -1 });
  expect(mock.behaviour.values).toEqual(values);
});

test('a reset cannot fail because of the adapters in use', async () => {
  await using mock = createMockServer({ setup: { rules: [{ fail: { kind: 'malformed-chunk' } }] } });
  mock.rules.clear();
  mock.listen();

  mock.reset();

  expect(mock.rules.list()).toMatchObject([{ fail: { kind: 'malformed-chunk' } }]);
});

const OF_KEY_2 = { delayMs: 1, match: { keyId: 'key_2' } };

test.each<[unknown, string, string]>([
  ['{', 'setup is "{"; expected a setup as JSON.', 'setup'],
  [{ rules: [{ respond: { status: 99 } }] }, 'setup.rules[0].respond.status is 99;', 'setup.rules[0].respond.status'],
  [{ rule: [] }, 'setup.rule is not a field of a setup; did you mean rules?', 'setup.rule'],
  [{ rules: [OF_KEY_2], keys: [{}] }, 'setup.rules[0].match.keyId is "key_2";', 'setup.rules[0].match.keyId'],
])('the option setup %j is refused', (setup, message, field) => {
  expect(() => createMockServer({ setup: setup as Setup })).toThrow(
    expect.objectContaining({ message: expect.stringContaining(message), field }),
  );
});

test('a setup can have rules that only a socket can reproduce; other adapters refuse them', async () => {
  await using mock = createMockServer({
    setup: { keys: [{}], rules: [{ fail: { kind: 'malformed-chunk' }, times: 1 }] },
  });
  const { url } = await mock.serve();
  const key = mock.setupKeys[0]?.key ?? '';
  const ask = async () => {
    const response = await fetch(`${url}/api/v1/quota`, { headers: { authorization: key } });
    await response.text();
    return response;
  };

  await expect(ask()).rejects.toThrow();
  expect((await ask()).status).toBe(200);
  mock.reset();
  await expect(ask()).rejects.toThrow();
  mock.reset();
  expect(() => mock.listen()).toThrow(expect.objectContaining({ code: 'rule_not_possible' }));
});

test('the option rules lies above the rules of the setup, in spaces and after a reset, too', async () => {
  const mock = createMockServer({
    clock: 'virtual',
    setup: { keys: [{}], rules: [{ respond: { data: 'setup' } }] },
    rules: [
      { respond: [{ data: 'option' }, { data: 'then' }] },
      { id: 'fn', times: 1, respond: () => ({ data: 'fn' }) },
    ],
  });
  const space = mock.space();
  const key = mock.setupKeys[0]?.key;
  for (const [scope, its] of [
    [mock, key],
    [space, space.key],
  ] as const) {
    const data = async () => JSON.parse((await bodyOf(scope, '', its)).slice(4)).data;
    expect([await data(), await data(), await data()]).toEqual(['fn', 'option', 'then']);
  }
  await space.close();
  mock.reset();

  expect(mock.rules.list().map(({ id, used }) => [id, used])).toEqual([
    ['rule_1', 0],
    ['rule_2', 0],
    ['fn', 0],
  ]);
});

test.each([
  [{ delayMs: -1 }, /^rules\[0\]\.delayMs is -1;/],
  [OF_KEY_2, /^rules\[0\]\.match\.keyId is "key_2"; .* the only key is key_1\.$/],
])('the option rules with %j is refused', (rule, message) => {
  expect(() => createMockServer({ setup: { keys: [{}] }, rules: [rule] })).toThrow(message);
});

test('a rule of the option rules replaces that of the setup with its id, in its place', () => {
  const setup = { rules: [{ id: 'slow', delayMs: 1 }, { delayMs: 2 }] };
  const mock = createMockServer({ setup, rules: [{ id: 'slow', delayMs: 3 }] });
  const rules = () => mock.rules.list().map(({ id, delayMs }) => [id, delayMs]);
  const atStart = rules();

  mock.reset();

  expect([atStart, rules()]).toEqual(
    Array(2).fill([
      ['slow', 3],
      ['rule_2', 2],
    ]),
  );
});

test('a rule without an id gets one that no rule of the same setup has', () => {
  const mock = createMockServer({ setup: { rules: [{ delayMs: 1 }, { id: 'rule_1', delayMs: 2 }, { delayMs: 3 }] } });

  expect(mock.rules.list().map(({ id }) => id)).toEqual(['rule_2', 'rule_1', 'rule_3']);
});
