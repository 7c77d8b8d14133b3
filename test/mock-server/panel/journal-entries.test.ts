import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { MockLifetime } from '../../../src/mock-server/clock/response-delays.ts';
import { createMockServer, type JournalEntry } from '../../../src/mock-server/index.ts';
import { Journal } from '../../../src/mock-server/journal/journal.ts';
import { curlCommand, matchingEntries, minuteChart } from '../../../src/mock-server/panel/browser/journal-entries.ts';
import {
  durationText,
  isStillActive,
  type MockView,
  readQuery,
  writeQuery,
} from '../../../src/mock-server/panel/browser/mock-view.ts';
import { targetOf } from '../../../src/text.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';

const ORIGIN = 'http://127.0.0.1:4010';

/** One of each: served, with an unknown key in the query, without a key, and with a broken connection. */
async function recorded() {
  const { mock, key } = mockWithKey({ clock: 'virtual' });
  const send = (target: string, init: RequestInit = {}) =>
    mock.fetch(mock.baseUrl + target, init).catch(() => undefined);
  const headers = { authorization: `Bearer ${key}`, 'x-note': "it's" };
  await send('/api/v1/latest?base=EUR&symbols=USD,GBP', { headers });
  await send(`/api/v1/quota?api_key=fx_live_${'0'.repeat(48)}`);
  await send('/nowhere', { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } });
  mock.rules.add({ times: 1, fail: { kind: 'network-error' } });
  await send('/api/v1/latest', { headers });
  return { entries: mock.journal.list(), key };
}

test.each([
  ['', [1, 2, 3, 4]],
  ['?status=served', [1]],
  ['?status=refused', [2, 3, 4]],
  ['?status=0', [4]],
  ['?operation=latest', [1, 4]],
  ['?operation=unknown', [3]],
  ['?operation=other', []],
  ['?key=key_1', [1, 4]],
  ['?key=unknown', [2]],
  ['?key=none', [3]],
  ['?text=USD,gbp', [1]],
  ['?text=X-NOTE', [1, 4]],
  ['?text=%22a%22', [3]],
  ['?key=key_1&text=broke', [4]],
])('the filters %s select the requests %j', async (search, numbers) => {
  const { entries } = await recorded();

  expect(matchingEntries(entries, readQuery(search)).map(({ number }) => number)).toEqual(numbers);
});

test.each(['a b', 'q=a b', 'é & x', '/nowhere/ü', '100%', 'q=a%20b'])('the search finds %s', async (text) => {
  const mock = createMockServer();
  await mock.fetch(`${mock.baseUrl}/nowhere/${encodeURIComponent('ü')}?q=a%20b&note=${encodeURIComponent('é & x')}`);
  await mock.fetch(`${mock.baseUrl}/100%`);

  expect(matchingEntries(mock.journal.list(), { ...readQuery(''), text })).toHaveLength(1);
});

test('an emptied journal and another one differ from the one before, also with as many requests', () => {
  const journal = new Journal(10, {} as MockLifetime);
  const ids = [journal.id, journal.id];
  journal.clear();
  ids.push(journal.id, new Journal(10, {} as MockLifetime).id);

  expect(ids[1]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(3);
});

test('the path of a rule is not unknown', async () => {
  const mock = createMockServer();
  mock.rules.add({ match: { path: '/stubbed' }, respond: { data: 1 } });
  const headers = { authorization: mock.createKey().key };
  for (const path of ['/stubbed', '/nowhere']) await mock.fetch(mock.baseUrl + path, { headers });
  const selected = (search: string) => matchingEntries(mock.journal.list(), readQuery(search)).map(({ path }) => path);

  expect(selected('?operation=unknown')).toEqual(['/nowhere']);
  expect(selected('?operation=other')).toEqual(['/stubbed']);
});

test('the command for curl has the key from the environment, and its words quoted for the shell', async () => {
  const { entries, key } = await recorded();
  const [bearer, inQuery, post] = entries.map((entry) => curlCommand(entry, ORIGIN));

  expect(bearer).toContain(`curl '${ORIGIN}/api/v1/latest?base=EUR&symbols=USD,GBP'`);
  expect(bearer).toContain(`-H 'authorization: Bearer '"$FXRATES_API_KEY"`);
  expect(bearer).toContain(`-H 'x-note: it'\\''s'`);
  expect(inQuery).toBe(`curl '${ORIGIN}/api/v1/quota?api_key='"$FXRATES_API_KEY"`);
  expect(post).toContain(`-X 'POST'`);
  expect(post).toContain(`--data-raw '{"a":1}'`);
  expect([bearer, inQuery, post].join()).not.toContain(key);
});

test('in the command for curl, only a masked key becomes the key from the environment', async () => {
  const { mock, key } = mockWithKey();
  const target = `${mock.baseUrl}/api/v1/latest?note=wait…&all=…&own=${key}&api_key=short`;
  await mock.fetch(target, { method: 'HEAD', headers: { authorization: 'Basic abc' } });

  const command = curlCommand(mock.journal.list()[0]!, ORIGIN);

  expect(command).toContain(`note=wait…&all=…&own='"$FXRATES_API_KEY"'&api_key='"$FXRATES_API_KEY"`);
  expect(command).toContain(`-H 'authorization: Basic '"$FXRATES_API_KEY"`);
  expect(command).toContain('--head');
});

/** A request of the journal. */
const requestOf = (fields: object) =>
  ({ method: 'GET', path: '/x', query: {}, headers: {}, ...fields }) as unknown as JournalEntry;

test('the command for curl has no cookies, which are masked', () => {
  const headers = { cookie: '…', 'x-tag': 'x' };

  const command = curlCommand(requestOf({ headers }), ORIGIN);

  expect(command).toBe(`curl '${ORIGIN}/x' \\\n  -H 'x-tag: x'`);
});

test.each([
  ['a path that curl takes for a host', { path: '*@other.test/x' }],
  ['a path with segments of dots', { path: '/a/../b' }],
  ['a path with an encoded segment of dots', { path: '/a/.%2E/b' }],
  ['a path that ends in a segment of a dot', { path: '/a/.' }],
  ['a path that ends in a segment of dots before a query', { path: '/a/..', query: { a: '1' } }],
  ['a path with characters that curl expands', { path: '/{a,b}[1-3]' }],
  ['a control character in a method', { method: 'A\tB' }],
  ['a control character in a header', { headers: { 'x-note': 'tab\there' } }],
  ['a control character in a body', { body: '\u001b[31mred' }],
  ['a character in a body that changes the direction', { body: '\u202eevil' }],
])('there is no command for curl for %s', (_, fields) => {
  expect(curlCommand(requestOf(fields), ORIGIN)).toBe(undefined);
});

test.each(['/.well-known/x', '/...', '/a/..b', '/%2Ex'])('there is a command for curl for %s', (path) => {
  expect(curlCommand(requestOf({ path }), ORIGIN)).toBe(`curl '${ORIGIN}${path}'`);
});

test.skipIf(process.platform === 'win32')('the shell restores the words of the command for curl', () => {
  const body = `{\n "a'b\\c": "\`id\` é fx_live_… end"\n}`;

  const command = curlCommand(
    requestOf({ path: '', method: '`id`', headers: { 'x-empty': '', 'x-a': 'a\\n' }, body }),
    ORIGIN,
  );

  const words = spawnSync('bash', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8', FXRATES_API_KEY: 'key' },
  }).stdout.split('\0');
  expect(words).toEqual([
    ...[ORIGIN, '-X', '`id`', '-H', 'x-empty;', '-H', 'x-a: a\\n', '--data-raw'],
    ...[body.replace('fx_live_…', 'key'), ''],
  ]);
});

test('encodes a target as in a URL', () => {
  expect(targetOf({ path: '/x', query: { a: ['1', '2'], 'b c': 'é&' } })).toBe('/x?a=1&a=2&b%20c=%C3%A9%26');
});

test.each(['', '?space=one&status=429&operation=latest&key=key_1&text=a%2Bb+c'])(
  'the address keeps the filters: %s',
  (search) => {
    expect(writeQuery(readQuery(search))).toBe(search);
  },
);

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0, 500);

function entry(secondsAgo: number, status: number, used: number, keyId = 'key_1'): JournalEntry {
  return { at: NOW - secondsAgo * 1000, status, keyId, rate: { limit: 30, used, fullAt: NOW } } as JournalEntry;
}

/** Newest first, as the panel has them. */
const burst = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => entry(1, 200, to - index));

/** What the panel has of a mock with these requests, and of the keys that have limits of their own. */
function viewOf(
  entries: readonly JournalEntry[],
  limits: Readonly<Record<string, object>> = {},
  total = entries.length,
) {
  const keys = Object.entries(limits).map(([id, own]) => ({ id, limits: own }));
  return { entries, total, keys, clock: { now: NOW } } as unknown as MockView;
}

test.each([
  [{}, 'minute'],
  [{ key_1: { windowMs: 1000 } }, 'window of 1000 ms'],
  [{ key_1: { windowMs: 90_500 } }, 'window of 90500 ms'],
  [{ key_1: { windowMs: 60_000 } }, 'minute'],
  [{ key_1: { requests: 2 } }, 'minute'],
  [{ key_2: { windowMs: 1000 } }, 'minute'],
])('the limit of a key with the limits %j is per %s', (limits, expected) => {
  const { window, summary } = minuteChart(viewOf([entry(0, 200, 1)], limits), '');

  expect(window).toBe(expected);
  expect(summary).toContain(`; the limit is 30 per ${expected}.`);
});

test('a burst up to the limit stays at the limit, and only refused requests are above it', () => {
  const { seconds, limit, summary } = minuteChart(viewOf([entry(0, 429, 30), entry(0, 429, 30), ...burst(1, 30)]), '');

  const now = Math.floor(NOW / 1000);
  expect(seconds).toHaveLength(120);
  expect(seconds.slice(-3)).toEqual([
    { at: now - 2, used: 0, all: 0 },
    { at: now - 1, used: 30, all: 30 },
    { at: now, used: 30, all: 32 },
  ]);
  expect(limit).toBe(30);
  expect(summary).toBe(
    'In the last two minutes, 30 requests of key_1 were served and 2 not; the limit is 30 per minute.',
  );
});

test('shows the last two minutes of the chosen key, or of the key that was used last', () => {
  const entries = [entry(0, 200, 1, 'key_2'), entry(119, 200, 4), entry(120, 200, 3)];

  const usedIn = ({ seconds }: ReturnType<typeof minuteChart>) => seconds.map(({ used }) => used);
  expect(usedIn(minuteChart(viewOf(entries), '')).filter((used) => used > 0)).toEqual([1]);
  const chart = minuteChart(viewOf(entries), 'key_1');
  expect([chart.keyId, usedIn(chart)[0], usedIn(chart).filter((used) => used > 0)]).toEqual(['key_1', 4, [4]]);
});

test.each([
  ['entries of the two minutes are cut', 0, 'at least 1 requests of key_1 were served and 0 not'],
  ['older entries are cut', 121, 'In the last two minutes, 1 requests'],
])('the summary says whether requests are missing: %s', (_, secondsAgo, expected) => {
  const entries = [entry(0, 200, 1), entry(secondsAgo, 200, 1, 'key_2')];

  expect(minuteChart(viewOf(entries, {}, 3), '').summary).toContain(expected);
  expect(minuteChart(viewOf(entries), '').summary).not.toContain('at least');
});

test.each([
  ['', 'No request was checked against a limit yet.'],
  ['key_1', 'No request of the chosen key was checked against a limit yet.'],
])('shows no limit before the first request that was checked against one, with the filter "%s"', (chosen, text) => {
  const refused = { at: NOW, status: 404, keyId: 'key_1' } as JournalEntry;
  const { seconds, keyId, limit, summary } = minuteChart(viewOf([refused]), chosen);

  expect([keyId, limit, summary]).toEqual([undefined, undefined, text]);
  expect(seconds.every(({ all }) => all === 0)).toBe(true);
});

test('a broken connection is not served, and refused requests that count stay at the limit', () => {
  const { seconds, summary } = minuteChart(viewOf([entry(0, 0, 31), entry(0, 200, 30)]), '');

  expect(seconds.at(-1)).toMatchObject({ used: 30, all: 31 });
  expect(summary).toContain('1 requests of key_1 were served and 1 not');
});

test.each([
  [-1, '0 ms'],
  [350, '350 ms'],
  [11_001, '12 s'],
  [250_000, '4 min 10 s'],
  [3_599_001, '1 h'],
  [3_600_001, '1 h 1 min'],
  [5_340_000, '1 h 29 min'],
  [47.5 * 3_600_000, '47 h 30 min'],
  [48 * 3_600_000, '2 days'],
  [16.6 * 86_400_000, '16 days 15 h'],
])('%d ms are %s, never less than there are', (ms, expected) => {
  expect(durationText(ms)).toBe(expected);
});

test('a new key is shown until it is revoked, or a reset gives its id to another one', () => {
  const { mock } = mockWithKey();
  const created = { ...mock.createKey(), space: '' };
  const isShown = (one = created) => isStillActive(one, mock.keys.list());

  expect([isShown(), isShown({ ...created, key: 'fx_live_of_before_----' })]).toEqual([true, false]);
  mock.keys.revoke(created.id);
  expect(isShown()).toBe(false);
});
