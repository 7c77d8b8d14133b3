import { between, type Random, seededRandom } from '../../../test/helpers/limits-random.ts';
import { createWindow, type Window, type WindowOptions } from './windows.ts';

/** Forms of Retry-After. A number is always sent as it is. */
export type HintForm = 'seconds' | 'fraction' | 'milliseconds' | 'date' | 'absent' | number;

export interface ServerSpec extends WindowOptions {
  /** Default: `'seconds'`. */
  readonly hint?: HintForm;
  /** A second limit in addition to the first. */
  readonly second?: WindowOptions;
  /** New limits during the run; `atMs` counts from the start. */
  readonly changes?: readonly { readonly atMs: number; readonly limit: number }[];
  /** Time for which each refused request blocks the key, from that request on. Default: 0. */
  readonly blockMs?: number;
  /** Whether 429s are an HTML page without an envelope. Default: false. */
  readonly html?: boolean;
  readonly outages?: readonly Outage[];
  /** Whether `quota` is a 404 instead of the record. Default: false. */
  readonly hasNoQuota?: boolean;
  /** Requests per minute of other clients, at random times. Default: 0. */
  readonly othersPerMinute?: number;
  /** Part of the limit that other clients used in the 40 s before the start. Default: 0. */
  readonly usedBefore?: number;
}

export interface Outage {
  /** Milliseconds since the start. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** A status, or no response. */
  readonly kind: 500 | 503 | 'silence';
  /** Retry-After of each response; `'remaining'`: the rest of the outage. Default: none. */
  readonly retryAfter?: number | 'remaining';
  /** Part of the requests that are affected. Default: 1. */
  readonly part?: number;
}

export interface SimulatedResponse {
  /** `'silence'`: no response; `'reset'`: the connection breaks. */
  readonly status: number | 'silence' | 'reset';
  readonly headers: Record<string, string>;
  readonly body: string;
  /** When the server accepts requests again, if the response says so. */
  readonly opensAt?: number;
}

/** A service with limits, in virtual time. It counts only accepted requests. */
export class WildServer {
  readonly #spec: ServerSpec;
  readonly #random: Random;
  readonly startedAt: number;
  readonly #windows: readonly Window[];
  #changed = 0;
  #limit: number;
  #blockedUntil = Number.NEGATIVE_INFINITY;
  /** The times of all requests of the client. */
  readonly #arrivals: number[] = [];
  /** The times of other clients' requests. */
  readonly #others: Generator<number, undefined>;
  #otherAt: number | undefined;

  /** The seed determines the requests of other clients. */
  constructor(
    spec: ServerSpec,
    random: Random,
    { startedAt, seed }: { readonly startedAt: number; readonly seed: number },
  ) {
    this.#spec = spec;
    this.#random = random;
    this.startedAt = startedAt;
    this.#limit = spec.limit;
    this.#windows = [spec, ...(spec.second ? [spec.second] : [])].map(createWindow);
    this.#others = othersTimes(spec, seed, startedAt);
    this.#otherAt = this.#others.next().value;
  }

  /** The outage that affects every request at that time. */
  outageAt(now: number): Outage | undefined {
    return this.#outagesAt(now).find(({ part = 1 }) => part === 1);
  }

  /** Milliseconds until the server would serve a request. */
  waitMs(now: number): number {
    this.#receiveOthers(now);
    return this.#waitMs(now);
  }

  /** Counts a request. */
  accept(now: number): void {
    for (const window of this.#windows) window.accept(now);
  }

  /** The largest number of requests in any minute, accepted or not. */
  get mostPerMinute(): number {
    let oldest = 0;
    return this.#arrivals.reduce((most, at, place) => {
      while ((this.#arrivals[oldest] ?? at) <= at - 60_000) oldest += 1;
      return Math.max(most, place - oldest + 1);
    }, 0);
  }

  receive(now: number, path: string): SimulatedResponse {
    this.#arrivals.push(now);
    this.#receiveOthers(now);
    const outage = this.#outagesAt(now).find(({ part = 1 }) => part === 1 || this.#random() < part);
    if (outage !== undefined) return this.#failed(outage, now);
    const waitMs = Math.max(this.#windowsMs(now), this.#blockedUntil - now);
    if (waitMs > 0) {
      const { blockMs = 0 } = this.#spec;
      if (now >= this.#blockedUntil) this.#blockedUntil = now + blockMs;
      return this.#refusal(now, Math.max(waitMs, this.#blockedUntil - now));
    }
    this.accept(now);
    return this.#served(path, now);
  }

  /** Handles the requests of other clients until now; counts those that are accepted. */
  #receiveOthers(now: number): void {
    for (let at = this.#otherAt; at !== undefined && at <= now; at = this.#otherAt) {
      if (this.#waitMs(at) <= 0) this.accept(at);
      this.#otherAt = this.#others.next().value;
    }
  }

  #waitMs(now: number): number {
    const outage = this.outageAt(now);
    return outage === undefined ? this.#windowsMs(now) : this.startedAt + outage.untilMs - now;
  }

  #windowsMs(now: number): number {
    this.#applyChanges(now);
    return Math.max(0, ...this.#windows.map((window) => window.waitMs(now)));
  }

  #outagesAt(now: number): Outage[] {
    const since = now - this.startedAt;
    return (this.#spec.outages ?? []).filter(({ fromMs, untilMs }) => since >= fromMs && since < untilMs);
  }

  #applyChanges(now: number): void {
    const changes = this.#spec.changes ?? [];
    for (let next = changes[this.#changed]; next && now - this.startedAt >= next.atMs; next = changes[this.#changed]) {
      this.#changed += 1;
      this.#limit = next.limit;
      this.#windows[0]?.setLimit(next.limit, now);
    }
  }

  #served(path: string, now: number): SimulatedResponse {
    if (!path.endsWith('/quota')) return response(200, { success: true, data: { base: 'USD' } }, now);
    if (this.#spec.hasNoQuota) return response(404, envelope(404, 'not_found'), now);
    return response(200, { success: true, data: quotaRecord(this.#limit) }, now);
  }

  #failed({ kind, retryAfter: hint, untilMs }: Outage, now: number): SimulatedResponse {
    if (typeof kind === 'string') return { status: kind, headers: {}, body: '' };
    const endsAt = this.startedAt + untilMs;
    const seconds = hint === 'remaining' ? Math.ceil((endsAt - now) / 1000) : hint;
    const headers: Record<string, string> = seconds === undefined ? {} : { 'retry-after': String(seconds) };
    const failed = response(kind, envelope(kind, 'unavailable'), now, headers);
    return hint === 'remaining' ? { ...failed, opensAt: endsAt } : failed;
  }

  #refusal(now: number, waitMs: number): SimulatedResponse {
    const { hint = 'seconds', html = false } = this.#spec;
    const value = retryAfter(hint, waitMs, now);
    const headers: Record<string, string> = value === undefined ? {} : { 'retry-after': value };
    const refused = response(429, envelope(429, 'rate_limited'), now, headers);
    const isKnown = typeof hint === 'string' && value !== undefined;
    return { ...(html ? asHtml(refused) : refused), ...(isKnown ? { opensAt: now + waitMs } : {}) };
  }
}

/** The times of other clients' requests, in order: those before the start, then a Poisson process. */
function* othersTimes(
  { usedBefore = 0, limit, othersPerMinute = 0 }: ServerSpec,
  seed: number,
  startedAt: number,
): Generator<number, undefined> {
  const before = seededRandom(seed + 1);
  const earlier = Array.from({ length: Math.round(usedBefore * limit) }, () => startedAt - between(before, 0, 40_000));
  yield* earlier.sort((a, b) => a - b);
  const random = seededRandom(seed + 2);
  for (let at = startedAt; othersPerMinute > 0; ) {
    at -= Math.log(1 - random()) * (60_000 / othersPerMinute);
    yield at;
  }
}

/** The value of Retry-After for a wait; `undefined` for no header. */
export function retryAfter(form: HintForm, waitMs: number, now: number): string | undefined {
  if (typeof form === 'number') return String(form);
  switch (form) {
    case 'absent':
      return undefined;
    case 'seconds':
      return String(Math.ceil(waitMs / 1000));
    case 'fraction':
      return (Math.ceil(waitMs) / 1000).toFixed(3);
    case 'milliseconds':
      return String(Math.ceil(waitMs));
    case 'date':
      return httpDate(Math.ceil((now + waitMs) / 1000) * 1000);
  }
}

function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}

function response(status: number, body: unknown, now: number, headers: Record<string, string> = {}): SimulatedResponse {
  const date = httpDate(Math.floor(now / 1000) * 1000);
  const all = { 'content-type': 'application/json', date, ...headers };
  return { status, headers: all, body: JSON.stringify(body) };
}

function asHtml(refused: SimulatedResponse): SimulatedResponse {
  const headers = { ...refused.headers, 'content-type': 'text/html' };
  return { ...refused, headers, body: '<html><body><h1>429 Too Many Requests</h1></body></html>' };
}

function envelope(status: number, code: string): unknown {
  return { success: false, error: { code, message: `Status ${status}.`, status } };
}

function quotaRecord(perMinute: number): unknown {
  return {
    plan: 'developer',
    monthly_used: 1_000,
    monthly_limit: 100_000_000,
    rate_limit_per_minute: perMinute,
    snapshot_granularity: '5min',
    historical_days: 90,
    resets_at: '2030-01-01T00:00:00.000Z',
  };
}
