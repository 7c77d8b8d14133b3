import { expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';

/**
 * Requests thirty times as long as a socket admits (16 KiB): a loop in a loop over one of them, or an expression that
 * tries each start again, would take minutes, and the test's timeout would fail it.
 */
const LENGTH = 480_000;
const TIMEOUT_MS = 60_000;
const distinct = (text: (n: number) => string) => Array.from({ length: LENGTH / 16 }, (_, n) => text(n));

const REQUESTS: Readonly<Record<string, { readonly path: string; readonly headers?: Record<string, string> }>> = {
  'one name, repeated': { path: `/api/v1/latest?${'a&'.repeat(LENGTH / 2)}` },
  'one name with values': { path: `/api/v1/latest?${distinct((n) => `a=${n}`).join('&')}` },
  'distinct unknown names': { path: `/api/v1/latest?${distinct((n) => `name${n}=1`).join('&')}` },
  'names in brackets': { path: `/api/v1/latest?${'[a]'.repeat(LENGTH / 3)}` },
  'a long name': { path: `/api/v1/latest?${'a'.repeat(LENGTH)}=1` },
  'a long value': { path: `/api/v1/latest?base=${'a'.repeat(LENGTH)}` },
  'percent signs': { path: `/api/v1/latest?base=${'%'.repeat(LENGTH)}` },
  'percent codes': { path: `/api/v1/latest?base=${'%41'.repeat(LENGTH / 3)}` },
  'a long path': { path: `/api/v1/${'a'.repeat(LENGTH)}` },
  'a path of slashes': { path: `/api/v1${'/'.repeat(LENGTH)}` },
  'a path of dots': { path: `/api/v1${'/..'.repeat(LENGTH / 3)}/latest` },
  'a key of blanks': { path: '/api/v1/latest', headers: { authorization: `Bearer ${' '.repeat(LENGTH)}x` } },
  'a long key': { path: '/api/v1/latest', headers: { authorization: `Bearer fx_live_${'0'.repeat(LENGTH)}` } },
  'many keys in a header': {
    path: '/api/v1/latest',
    headers: { 'x-note': `fx_live_${'0'.repeat(48)} `.repeat(LENGTH / 57) },
  },
  'a list of preferences': { path: '/api/v1/latest', headers: { prefer: `code=${' '.repeat(LENGTH)},` } },
  'a list of encodings': { path: '/api/v1/latest', headers: { 'accept-encoding': 'gzip, '.repeat(LENGTH / 6) } },
};

test.each(Object.keys(REQUESTS))('answers a request with %s', { timeout: TIMEOUT_MS }, async (name) => {
  await using mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey();
  const { path, headers } = REQUESTS[name] ?? { path: '' };

  const response = await mock.fetch(`${mock.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });

  expect(response.status).toBeLessThan(500);
  expect(mock.journal.list()).toHaveLength(1);
  expect(JSON.stringify(mock.journal.list())).not.toContain(key);
});
