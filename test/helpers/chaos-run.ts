import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { type CallOptions, type Clock, FxRates, FxRatesError, type FxRatesOptions } from '../../src/client/index.ts';
import { ApiKey } from '../../src/client/key/api-key.ts';
import { resolveOptions } from '../../src/client/options/resolve-options.ts';
import { KeyStates } from '../../src/client/state/key-state.ts';
import { Lifetime } from '../../src/client/state/lifetime.ts';
import {
  createMockServer,
  type Failure,
  type MockServer,
  type Rule,
  type RuleOptions,
} from '../../src/mock-server/index.ts';
import { seededRandom } from './limits-random.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly calls: number;
  readonly faults: readonly ChaosFault[];
  /** Reaches the mock in another way than its own `fetch`. */
  readonly via?: Pick<FxRatesOptions, 'baseUrl' | 'fetch'>;
  /**
   * False over a socket: when a call is aborted, it is unknown whether its request arrived, and the client counts it.
   * Default: true.
   */
  readonly isExact?: boolean;
  readonly mock?: MockServer;
}

export interface ChaosReport {
  /** Number of calls by result: `'value'`, or the kind of the error. */
  readonly endings: Readonly<Record<string, number>>;
  /** Violations of the rules that each run must obey. */
  readonly problems: readonly string[];
  /** Requests that the client counted, that the service counted, and that a fault kept from the service. */
  readonly spent: { readonly client: number; readonly mock: number; readonly unseen: number };
  /** Number of times that each kind of fault was applied. */
  readonly struck: Readonly<Record<string, number>>;
  readonly virtualHours: number;
}

const CALLS_PER_KEY = 125;
const PLANS = ['free', 'developer', 'developer', 'unlimited'] as const;
const DEADLINES_MS = [90_000, 90_000, 60_000, 5_000, 200];

/** A mock at the start of a month. A whole run fits into that month, so the usage is not reset. */
export function chaosMock(): MockServer {
  return createMockServer({ clock: { mode: 'virtual', now: '2026-03-01T00:00:01Z' }, journalSize: 10 });
}

/**
 * One client against a mock with many faults, on the mock's clock. After some hundred calls the faults change and the
 * key is revoked. The client detects it, asks for the next key and continues.
 */
export class ChaosRun {
  readonly #options: ChaosOptions;
  readonly #random;
  readonly #mock: MockServer;
  readonly #clock: CountingClock;
  readonly #fx: FxRates;
  readonly #states: KeyStates;
  readonly #problems: string[] = [];
  readonly #endings: Record<string, number> = {};
  readonly #struck: Record<string, number> = {};
  readonly #spent = { client: 0, mock: 0, unseen: 0 };
  /** Requests of the current key that the client counts and the service does not. */
  #unseen = 0;
  #key = '';
  #keys = 0;

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#mock = options.mock ?? chaosMock();
    this.#clock = new CountingClock(this.#mock.clock);
    const settings: FxRatesOptions = {
      ...this.#mock.clientOptions(),
      ...options.via,
      clock: Object.assign(this.#clock, { random: () => this.#random() }),
      apiKey: () => this.#key,
      logger: { warn: () => undefined },
    };
    this.#fx = new FxRates(settings);
    this.#states = new KeyStates(resolveOptions({ ...settings, baseUrl: settings.baseUrl ?? '' }), {
      lifetime: new Lifetime(),
      onState() {},
    });
  }

  /** Number of keys used so far. */
  get keys(): number {
    return this.#keys;
  }

  async play(): Promise<ChaosReport> {
    const startedAt = this.#clock.now();
    for (let done = 0; done < this.#options.calls; done += CALLS_PER_KEY) {
      await this.#playKey(Math.min(CALLS_PER_KEY, this.#options.calls - done));
    }
    const virtualHours = (this.#clock.now() - startedAt) / 3_600_000;
    return { endings: this.#endings, problems: this.#problems, spent: this.#spent, struck: this.#struck, virtualHours };
  }

  /** Uses one key: makes calls with some faults, compares the counts of client and mock, and revokes the key. */
  async #playKey(calls: number): Promise<void> {
    const { id, key } = this.#mock.createKey({ plan: this.#pick(PLANS) });
    this.#key = key;
    this.#keys += 1;
    const usedBefore = this.#isLikely(0.4) ? this.#endOfMonth(id) : 0;
    // Below the others, whose delays count.
    this.#mock.rules.add({ delayMs: 1 + this.#below(400), match: { ...SERVED, keyId: id } });
    const faults = this.#addFaults(id);
    const stop = this.#mock.journal.subscribe(({ rules: used }) => {
      if (used.some((rule) => faults.some(({ id, looksCounted }) => looksCounted && id === rule))) this.#unseen += 1;
    });
    for (let left = calls; left > 0; ) {
      const burst = Math.min(left, 1 + this.#below(50));
      await Promise.all(Array.from({ length: burst }, () => this.#call()));
      await this.#clock.sleep(this.#below(90_000));
      left -= burst;
    }
    await this.#balance(key, this.#mock.keys.get(id).month.used - usedBefore);
    stop();
    await this.#recover(id);
    this.#mock.keys.revoke(id);
  }

  /** Without faults, a call succeeds after five minutes, the longest time for which a 503 can delay calls. */
  async #recover(keyId: string): Promise<void> {
    this.#mock.rules.clear();
    this.#mock.keys.setUsage(keyId, { month: 0 });
    // Also waits for the longest Retry-After that the client received.
    const blockedMs = Number(this.#fx.limits()?.nextSlotAt ?? 0) - this.#clock.now();
    await this.#clock.sleep(Math.max(300_000, blockedMs));
    const served = await this.#fx.latest({ n: 'last' }, { deadlineMs: 150_000 }).catch(String);
    this.#expect(typeof served === 'object', `does not recover: ${served}`);
  }

  #endOfMonth(id: string): number {
    const month = 1000 - this.#below(60);
    this.#mock.keys.setUsage(id, { month });
    return month;
  }

  /** For this key only, because late requests of the previous key belong to that key. */
  #addFaults(keyId: string): readonly { readonly id: string; readonly looksCounted: boolean }[] {
    return Array.from({ length: this.#below(10) }, () => {
      const { fault, looksCounted = false } = this.#pick(this.#options.faults);
      const often = { probability: fault.retryAfter === undefined ? this.#random() / 3 : 0.8 };
      return { id: this.#mock.rules.add({ ...fault, ...often, match: { ...fault.match, keyId } }).id, looksCounted };
    });
  }

  async #balance(key: string, charged: number): Promise<void> {
    const state = this.#states.of(ApiKey.from(key));
    const unseen = this.#unseen;
    this.#unseen = 0;
    for (const rule of this.#mock.rules.list()) {
      const kind = kindOf(rule);
      this.#struck[kind] = (this.#struck[kind] ?? 0) + rule.used;
    }
    const { spent } = state.quota;
    const faults = JSON.stringify(this.#mock.rules.list());
    const isRight = (this.#options.isExact ?? true) ? spent === charged + unseen : spent >= charged + unseen;
    this.#expect(isRight, `counted ${spent}, not ${charged} and ${unseen} unseen: ${faults}`);
    const { waiting = 0, inFlight = 0 } = state.limits() ?? {};
    this.#expect(waiting + inFlight === 0, `left in the queue: ${JSON.stringify(state.limits())}`);
    this.#expect(this.#clock.pending === 0, `${this.#clock.pending} timers left: ${faults}`);
    this.#spent.client += spent;
    this.#spent.mock += charged;
    this.#spent.unseen += unseen;
  }

  async #call(): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const deadlineMs = this.#pick(DEADLINES_MS);
    const options: CallOptions = {
      signal,
      deadlineMs,
      maxRetries: this.#below(3),
      onLimit: this.#isLikely(0.1) ? 'throw' : 'wait',
    };
    const startedAt = this.#clock.now();
    const leaves = this.#isLikely(0.1);
    const leaving = leaves
      ? this.#clock.sleep(this.#below(3_000), signal).then(
          () => controller.abort(),
          () => {},
        )
      : undefined;
    const call = this.#isLikely(0.05) ? this.#fx.quota(options) : this.#fx.latest({ n: this.#below(40) }, options);
    const ending = await call.then(
      (data: object) => (typeof data === 'object' ? 'value' : `no data: ${String(data)}`),
      (error: unknown) => {
        this.#expect(!showsKey(error, this.#key), `shows the key: ${String(error)}`);
        return FxRatesError.is(error) ? error.kind : `a stranger: ${String(error)}`;
      },
    );
    const lasted = this.#clock.now() - startedAt;
    this.#endings[ending] = (this.#endings[ending] ?? 0) + 1;
    this.#expect(KINDS.has(ending), ending);
    this.#expect(lasted <= deadlineMs, `${ending} after ${lasted} of ${deadlineMs} ms`);
    const listeners = getEventListeners(signal, 'abort').length;
    if (leaving === undefined) this.#expect(listeners === 0, `${ending} left ${listeners} listeners`);
    controller.abort();
    await leaving;
  }

  #expect(holds: boolean, problem: string): void {
    if (!holds) this.#problems.push(problem);
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  #isLikely(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }
}

/** Whether any printed form of an error contains the full key. */
function showsKey(error: unknown, key: string): boolean {
  return [String(error), inspect(error, { depth: 8, maxStringLength: null }), JSON.stringify(error)].some((text) =>
    text?.includes(key),
  );
}

/** Without `ConfigError`: no call of a run has a mistake of the caller. */
const KINDS = new Set(
  'value authentication rate_limited quota_exhausted request server network timeout aborted response'.split(' '),
);

/** Counts the pending sleeps. */
class CountingClock implements Clock {
  pending = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.pending += 1;
    try {
      await this.#clock.sleep(ms, signal);
    } finally {
      this.pending -= 1;
    }
  }
}

function kindOf({ fail, respond, retryAfter, encoding }: Rule): string {
  if (fail !== undefined) return fail.kind;
  if (respond !== undefined) return 'respond';
  return retryAfter === undefined ? (encoding ?? 'delay') : 'retry-after';
}

/** A rule that lets requests fail, and whether the client must count a request that the service did not count. */
export interface ChaosFault {
  readonly fault: RuleOptions;
  readonly looksCounted?: boolean;
}

const SERVED = { operation: 'latest', status: 200 };
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
