import type { Failure, RuleOptions } from '../../src/mock-server/index.ts';

/** A rule that lets requests fail, and whether the client must count a request that the service did not count. */
export interface ChaosFault {
  readonly fault: RuleOptions;
  readonly looksCounted?: boolean;
}

export const SERVED = { operation: 'latest', status: 200 };
const REFUSED = { operation: 'latest', status: 429 };
const LATEST = { operation: 'latest' };

const FAILURES: readonly Failure[] = [
  { kind: 'reset' },
  { kind: 'reset', afterBytes: 0 },
  { kind: 'reset', afterBytes: 17 },
  { kind: 'truncate', afterBytes: 0 },
  { kind: 'truncate', afterBytes: 40 },
  { kind: 'network-error' },
  { kind: 'hang' },
  { kind: 'dribble', intervalMs: 40, chunkBytes: 500 },
  { kind: 'dribble', intervalMs: 4_000, chunkBytes: 100 },
  { kind: 'bad-json' },
];

/** The service has counted the request and its response is damaged, so the client must count it, too. */
const AFTER: readonly RuleOptions[] = [
  ...FAILURES.map((fail): RuleOptions => ({ fail, match: SERVED })),
  ...[900, 10_000, 25_000].map((delayMs): RuleOptions => ({ delayMs, match: SERVED })),
  ...['gzip', 'deflate', 'br'].map((encoding): RuleOptions => ({ encoding: encoding as 'gzip', match: SERVED })),
  ...['', 'null', '[]', '{"success":true}', '{"success":"yes","data":{}}', '{"success":false}'].map(
    (body): RuleOptions => ({ respond: { body }, match: LATEST }),
  ),
  { respond: { body: '{"success":true,"data":{}}', headers: { 'content-type': 'text/html' } }, match: LATEST },
  { respond: { data: {} }, match: LATEST },
  ...[204, 302, 400, 404, 408, 418, 500, 502, 503, 504, 599].map(
    (status): RuleOptions => ({ respond: { status }, match: LATEST }),
  ),
  { respond: { status: 503, body: '<html>Sorry</html>', headers: { 'retry-after': '3' } }, match: LATEST },
  { respond: { status: 503, headers: { 'retry-after': '7200' } }, match: LATEST },
];

/** Values of Retry-After, the documented form first. */
const RETRY_AFTERS: readonly string[] = [
  ...['0', '1', '2.5', '30', '61', '120', '1500', '30000', '86400', '1, 7', ' 4 ', '5, 5.5, 1'],
  ...['', 'soon', '-5', '1e3', '0x10', 'NaN', 'Infinity', '1;2', '99999999999999999999'],
  ...['Sun, 01 Mar 2026 00:20:00 GMT', 'Sunday, 01-Mar-26 00:20:00 GMT', 'Sun Mar  1 00:20:00 2026', '1772323800'],
];

const RETRY: readonly RuleOptions[] = [...RETRY_AFTERS, { absent: true } as const].map((retryAfter) => ({
  retryAfter,
  match: { status: 429 },
}));

/** The request or its refusal is lost. The client counts it, to be safe. */
const UNSEEN: readonly RuleOptions[] = [
  ...(['reset', 'network-error', 'hang'] as const).map(
    (kind): RuleOptions => ({ fail: { kind }, counted: false, match: LATEST }),
  ),
  ...[500, 503, 404].map((status): RuleOptions => ({ respond: { status }, counted: false, match: LATEST })),
  { fail: { kind: 'reset' }, match: REFUSED },
  { fail: { kind: 'hang' }, match: REFUSED },
];

/** Refusals that are not counted, and failures of `quota`. */
const FREE: readonly RuleOptions[] = [
  ...[401, 402, 403, 429].map((status): RuleOptions => ({ respond: { status }, counted: false, match: LATEST })),
  { respond: { status: 503 }, match: { operation: 'quota' } },
  { fail: { kind: 'hang' }, match: { operation: 'quota' } },
  { fail: { kind: 'bad-json' }, match: { operation: 'quota' } },
];

/** Rules that need a real connection. */
const OF_SOCKETS: readonly RuleOptions[] = [{ fail: { kind: 'malformed-chunk', afterBytes: 12 }, match: SERVED }];

const plain = (faults: readonly RuleOptions[]) => faults.map((fault): ChaosFault => ({ fault }));

/** All rules that work in process. */
export const CHAOS_FAULTS: readonly ChaosFault[] = [
  ...plain([...AFTER, ...RETRY, ...FREE]),
  ...UNSEEN.map((fault): ChaosFault => ({ fault, looksCounted: true })),
];

/** The same rules, and those of sockets. */
export const SOCKET_FAULTS: readonly ChaosFault[] = [...CHAOS_FAULTS, ...plain(OF_SOCKETS)];
