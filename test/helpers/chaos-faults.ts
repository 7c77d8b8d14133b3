import type { FaultOptions } from '../../src/mock-server/index.ts';

/** A fault, and whether the client must count a request that the service did not count. */
export interface ChaosFault {
  readonly fault: FaultOptions;
  readonly looksCounted?: boolean;
}

export const SERVED = { operation: 'latest', status: 200 };
const REFUSED = { operation: 'latest', status: 429 };
const LATEST = { operation: 'latest' };

/** The service has counted the request and its response is damaged, so the client must count it, too. */
const AFTER: readonly FaultOptions[] = [
  { kind: 'reset', match: SERVED },
  { kind: 'reset', afterBytes: 0, match: SERVED },
  { kind: 'reset', afterBytes: 17, match: SERVED },
  { kind: 'truncate', afterBytes: 0, match: SERVED },
  { kind: 'truncate', afterBytes: 40, match: SERVED },
  { kind: 'network-error', match: SERVED },
  { kind: 'hang', match: SERVED },
  { kind: 'latency', latencyMs: 900, match: SERVED },
  { kind: 'latency', latencyMs: 10_000, match: SERVED },
  { kind: 'latency', latencyMs: 25_000, match: SERVED },
  { kind: 'dribble', intervalMs: 40, chunkBytes: 500, match: SERVED },
  { kind: 'dribble', intervalMs: 4_000, chunkBytes: 100, match: SERVED },
  { kind: 'bad-json', match: SERVED },
  { kind: 'content-type', match: SERVED },
  ...['', 'null', '[]', '{"success":true}', '{"success":"yes","data":{}}', '{"success":false}'].map(
    (body): FaultOptions => ({ kind: 'status', status: 200, body, match: SERVED }),
  ),
  ...[200, 204, 302, 400, 404, 408, 418, 500, 502, 503, 504, 599].map(
    (status): FaultOptions => ({ kind: 'status', status, match: SERVED }),
  ),
  { kind: 'status', status: 503, body: '<html>Sorry</html>', headers: { 'retry-after': '3' }, match: SERVED },
  { kind: 'status', status: 503, headers: { 'retry-after': '7200' }, match: SERVED },
];

/** Values of Retry-After, the documented form first. */
const RETRY_AFTERS: readonly (string | undefined)[] = [
  ...['0', '1', '2.5', '30', '61', '120', '1500', '30000', '86400', '1, 7', ' 4 ', '5, 5.5, 1'],
  ...['', 'soon', '-5', '1e3', '0x10', 'NaN', 'Infinity', '1;2', '99999999999999999999'],
  ...['Sun, 01 Mar 2026 00:20:00 GMT', 'Sunday, 01-Mar-26 00:20:00 GMT', 'Sun Mar  1 00:20:00 2026', '1772323800'],
  undefined,
];

const RETRY: readonly FaultOptions[] = RETRY_AFTERS.map((retryAfter) => ({ kind: 'retry-after', retryAfter }));

/** The request or its refusal is lost. The client counts it, to be safe. */
const UNSEEN: readonly FaultOptions[] = [
  { kind: 'reset', strikes: 'before', match: LATEST },
  { kind: 'network-error', strikes: 'before', match: LATEST },
  { kind: 'hang', strikes: 'before', match: LATEST },
  { kind: 'status', status: 500, strikes: 'before', match: LATEST },
  { kind: 'status', status: 503, strikes: 'before', match: LATEST },
  { kind: 'status', status: 404, strikes: 'before', match: LATEST },
  { kind: 'reset', match: REFUSED },
  { kind: 'hang', match: REFUSED },
];

/** Refusals that are not counted, and failures of `quota`. */
const FREE: readonly FaultOptions[] = [
  ...[401, 402, 403, 429].map((status): FaultOptions => ({ kind: 'status', status, strikes: 'before', match: LATEST })),
  { kind: 'status', status: 429, code: 'rate_limited', strikes: 'before', match: LATEST },
  { kind: 'status', status: 503, match: { operation: 'quota' } },
  { kind: 'hang', match: { operation: 'quota' } },
  { kind: 'bad-json', match: { operation: 'quota' } },
];

/** Faults that need a real connection. */
const OF_SOCKETS: readonly FaultOptions[] = [
  { kind: 'malformed-chunk', afterBytes: 12, match: SERVED },
  { kind: 'garbage', match: SERVED },
];

const plain = (faults: readonly FaultOptions[]) => faults.map((fault): ChaosFault => ({ fault }));

/** All faults that work in process. */
export const CHAOS_FAULTS: readonly ChaosFault[] = [
  ...plain([...AFTER, ...RETRY, ...FREE]),
  ...UNSEEN.map((fault): ChaosFault => ({ fault, looksCounted: true })),
];

/** The same faults, and those of sockets. */
export const SOCKET_FAULTS: readonly ChaosFault[] = [...CHAOS_FAULTS, ...plain(OF_SOCKETS)];
