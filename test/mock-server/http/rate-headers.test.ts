import { expect, test } from 'vitest';
import { Behaviour } from '../../../src/mock-server/behaviour/behaviour.ts';
import { rateHeaders } from '../../../src/mock-server/http/responses.ts';

const NOW = Date.UTC(2026, 0, 21, 14, 20);
const headers = (style: 'none' | 'x-ratelimit' | 'ietf-draft', used: number, fullInMs: number) =>
  rateHeaders({ limit: 30, used, fullAt: NOW + fullInMs }, NOW, new Behaviour({ rateHeaders: style }));

test.each([
  [1, 59_001, 29, 60],
  [1, 59_000, 29, 59],
  [30, 1, 0, 1],
  [0, 0, 30, 0],
  // Refused requests can count too.
  [31, 60_000, 0, 60],
])('with %i of 30 requests used and all free in %i ms, %i remain, and the reset is in %i s', (...row) => {
  const [used, fullInMs, remaining, resetSeconds] = row;

  expect(headers('x-ratelimit', used, fullInMs)).toEqual({
    'x-ratelimit-limit': '30',
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(NOW / 1000 + resetSeconds),
  });
  expect(headers('ietf-draft', used, fullInMs)).toEqual({
    'ratelimit-policy': '"minute";q=30;w=60',
    ratelimit: `"minute";r=${remaining};t=${resetSeconds}`,
  });
  expect(headers('none', used, fullInMs)).toBeUndefined();
});
