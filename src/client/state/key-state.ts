import { inspect } from 'node:util';
import type { QuotaData } from '../../generated/types.ts';
import { isolatesRequests, keyGenerations, processState } from '../../process-state.ts';
import type { Refusal } from '../call/call.ts';
import type { ClientEvents, WarnOptions } from '../call/events.ts';
import { AbortError, type RetryAfter } from '../errors/errors.ts';
import type { ApiKey } from '../key/api-key.ts';
import type { RetryAfterReading } from '../limits/limit-rules.ts';
import { type KeyLimits, type LongWait, RateLimiter, type Wait } from '../limits/rate-limiter.ts';
import type { RetryAfterUnit } from '../limits/retry-after.ts';
import type { AnyOptions } from '../options/client-options.ts';
import type { Warning } from '../options/hooks.ts';
import type { ClientSettings } from '../options/resolve-options.ts';
import { type Cancellation, SharedWork } from '../time/abort.ts';
import type { Clock, SteadyTime } from '../time/clock.ts';
import type { Lifetime, RetainedState } from './lifetime.ts';
import { QuotaLedger } from './quota-ledger.ts';
import { perMinuteIn } from './quota-record.ts';

/** What the registry needs of a state. */
interface Registration {
  readonly generation?: number | undefined;
  readonly onClosed?: () => void;
}

/** The state that all calls with one key share, even if they belong to different clients. */
export class KeyState implements RetainedState {
  /** Clients that use it and have not been closed. */
  clients = 0;
  /** That of its key when it was created; a mock server in this process that is reset begins another one. */
  readonly generation: number | undefined;
  /** The key, masked. */
  readonly key: string;
  /** The shared options of the first client. */
  readonly options: ReturnType<typeof sharedOptions>;
  /** `undefined` with `rateLimit: false`: no call waits. */
  readonly limiter: RateLimiter | undefined;
  readonly quota: QuotaLedger;
  /** The client's own calls of `quota()`: for the record or the limit, and to explain a refusal. */
  readonly lookups = { asking: new SharedWork<QuotaData>(), explaining: new SharedWork<QuotaData | undefined>() };
  /** The waits of calls that would use the quota. */
  readonly waits = new Set<Cancellation>();
  /** Measures the waits of its calls. */
  readonly time: SteadyTime;
  /** For the warning about a long wait. */
  lastRefusal: Refusal | undefined;
  /** How Retry-After is read, with the next step, for the errors of refused calls; `undefined` for plain seconds. */
  unitInWords: Warning | undefined;
  #unit: RetryAfterUnit | undefined;
  readonly #onClosed: (() => void) | undefined;
  /** Clients and the number of their waiting calls. Each receives one event per wait. */
  readonly #waiting = new Map<ClientEvents, number>();
  /** The client of the last call that waited. It receives a warning if no call waits. */
  #last: ClientEvents | undefined;

  constructor({ masked, hash }: ApiKey, settings: ClientSettings, { generation, onClosed }: Registration = {}) {
    const { clock } = settings;
    this.generation = generation;
    this.key = masked;
    this.time = settings.time;
    this.#onClosed = onClosed;
    this.options = sharedOptions(settings);
    this.quota = new QuotaLedger(clock);
    this.limiter = createLimiter(this, stateName(hash, settings), settings);
  }

  /**
   * A quota record has arrived, with the limit of the plan and the usage of the month.
   * `spentBefore`: `quota.spent` when the request was sent.
   */
  sawQuota(record: QuotaData, spentBefore: number): void {
    this.quota.sawRecord(record, spentBefore);
    const perMinute = perMinuteIn(record);
    if (perMinute !== undefined) this.limiter?.configure(perMinute);
  }

  /** The service has refused a request because of its quota: ends the waits of the calls that would use it. */
  stop(record: QuotaData): void {
    this.quota.stop(record);
    for (const wait of this.waits) wait.cancel(record);
  }

  /** A 429 has arrived for a call of a client. Warns once of each change of the unit, and once per client of an invalid value. */
  sawRefusal(reading: RetryAfterReading | undefined, parsed: RetryAfter | undefined, events: ClientEvents): void {
    if (parsed?.form === 'invalid')
      events.warnOnce(invalidRetryAfterWarning(this.key, parsed.text), { topic: `retry-after: ${this.key}` });
    if (parsed?.form !== 'integer' || reading === undefined) return;
    const { unit, evidence } = reading;
    // A small number during a trial is read in seconds and does not affect the trial.
    if (evidence === 'on-trial' && unit === 'seconds') return;
    this.unitInWords = wordsOfUnit(parsed.value, reading);
    if (this.unitInWords !== undefined && unit !== this.#unit)
      events.warnOnce({ ...this.unitInWords, summary: `Key ${this.key}: ${this.unitInWords.summary}` });
    this.#unit = unit;
  }

  /** A call of the client waits. */
  join(events: ClientEvents): void {
    this.#last = events;
    this.#waiting.set(events, (this.#waiting.get(events) ?? 0) + 1);
  }

  leave(events: ClientEvents): void {
    const remaining = (this.#waiting.get(events) ?? 0) - 1;
    if (remaining > 0) this.#waiting.set(events, remaining);
    else this.#waiting.delete(events);
  }

  /** Warns the clients with waiting calls. */
  warn(warning: string | Warning, options?: WarnOptions): void {
    if (this.#waiting.size === 0) this.#last?.warnOnce(warning, options);
    for (const events of this.#waiting.keys()) events.warnOnce(warning, options);
  }

  /** Reports a wait to the clients with waiting calls. */
  reportWait(wait: Wait): void {
    for (const events of this.#waiting.keys()) events.wait(this, wait);
  }

  /** The state of the limit; `undefined` without a queue. */
  limits(): KeyLimits | undefined {
    return this.limiter?.limits();
  }

  /** The unit of a Retry-After; for that of a 429, `sawRefusal` gets it from the limiter, if there is one. */
  get retryAfterUnit(): RetryAfterUnit {
    // Without a queue, not one request but all would try milliseconds.
    return (
      this.limiter?.retryAfterUnit ?? (this.options['retryAfterUnit'] === 'milliseconds' ? 'milliseconds' : 'seconds')
    );
  }

  /**
   * Its last client is closed: the next client of the key creates a new state. Resolves when the store has the results of
   * all its calls, or has failed.
   */
  async close(): Promise<void> {
    const lookupEnded = this.lookups.asking.cancel(new AbortError());
    this.#onClosed?.(); // before the first `await`, so that a client that is created meanwhile does not use it
    await lookupEnded;
    await this.limiter?.shared?.stored();
  }
}

function createLimiter(
  state: KeyState,
  name: string,
  { rateLimit, maxRetryAfterMs, retryAfterUnit, clock, random }: ClientSettings,
): RateLimiter | undefined {
  if (rateLimit === false) return undefined;
  const { store, ...limit } = rateLimit;
  return new RateLimiter({
    ...limit,
    maxRetryAfterMs,
    retryAfterUnit,
    clock,
    random,
    onWait: (wait) => state.reportWait(wait),
    onLongWait: (wait) => state.warn(longWaitWarning(state, wait), { code: 'FXRATES_LONG_WAIT' }),
    shared: store && { store, name },
    onOutage: (storeFailure, occasion) => {
      const summary = `rateLimit.store: the store failed (${storeFailure})`;
      const advice = 'until the store responds, this process limits itself';
      state.warn({ summary, advice, storeFailure }, { occasion });
    },
  });
}

function longWaitWarning({ key, lastRefusal }: KeyState, { waiting, perMinute, isPart, lastMs }: LongWait): Warning {
  const inTime = lastMs < 120_000 ? `${Math.round(lastMs / 1000)} s` : `${Math.round(lastMs / 60_000)} minutes`;
  const whose = isPart ? "this process's share of its limit," : 'its limit of';
  const limit = Number.isFinite(perMinute) ? `${whose} ${perMinute} per minute` : 'its limit';
  const calls =
    waiting === 1
      ? `1 call of key ${key} waits for ${limit}; it`
      : `${waiting} calls of key ${key} wait for ${limit}; the last`;
  // Another code than the documented one: the wait can be much longer, such as until the end of the month.
  const { code = 'rate_limited', said } = lastRefusal ?? {};
  const refusal = code === 'rate_limited' ? '' : `; the last refusal of the service${said}`;
  return {
    summary: `${calls} will be sent in about ${inTime}${refusal}`,
    advice: "in a request handler, set deadlineMs or onLimit: 'throw'",
  };
}

/** The name of a key's state. Clients with and without a queue have separate states. */
function stateName(hash: string, { baseUrl, rateLimit }: ClientSettings): string {
  return `${new URL(baseUrl).origin}#${hash}${rateLimit === false ? '#unqueued' : ''}`;
}

/** Characters of a Retry-After that a warning shows. */
const LONGEST_SHOWN = 60;

function invalidRetryAfterWarning(key: string, text: string): string {
  const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
  return `Key ${key}: Retry-After '${shown}' is neither a number nor an HTTP date; ignored`;
}

function wordsOfUnit(value: number, { unit, evidence }: RetryAfterReading): Warning | undefined {
  if (evidence === 'assumed' || evidence === 'set') return undefined;
  const summary = `Retry-After ${value} is read in ${unit}, because of its value and the responses so far`;
  return { summary, advice: 'if you know the unit, set retryAfterUnit' };
}

/** Options by their names. */
type Named = Readonly<Record<string, unknown>>;

/** The options that the calls of one key share with its limit. Without a queue, `maxRetryAfterMs` is not shared. */
export function sharedOptions({ rateLimit, maxRetryAfterMs, retryAfterUnit }: AnyOptions | ClientSettings): Named {
  if (rateLimit === false) return { retryAfterUnit };
  const limit = Object.entries(rateLimit ?? {}).map(([name, value]) => [`rateLimit.${name}`, value]);
  return { ...Object.fromEntries(limit), maxRetryAfterMs, retryAfterUnit };
}

/** A warning about options that have no effect, because an earlier client of the key set them; `undefined` for none. */
export function ignoredOptionsWarning(
  given: Named,
  { key, options }: { key: string; options: Named },
): string | undefined {
  const names = Object.keys(given).filter((name) => given[name] !== undefined && given[name] !== options[name]);
  if (names.length === 0) return undefined;
  const list = names.map((name) => `${name}: ${shown(given[name])} (in use: ${shown(options[name])})`).join(', ');
  return `${list}: ignored, because all clients of key ${key} in this process share one limit, with the options of the first client; pass the same options to each, and the same store`;
}

function shown(value: unknown): string {
  return inspect(value, { depth: -1 });
}

/** Ends with the version of the shape of `Shared`, which includes `KeyState` and the limiter. */
const SHARED = 'key-states.22';

/** A state is removed when the last client that used it is closed. */
type StatesByName = Map<string, KeyState>;

/**
 * Clients with a fake clock share a state only with clients that have the same clock. Where requests are isolated, a client
 * shares it only with those of its `withOptions()`: the queue settles promises of other calls.
 */
type Shared = WeakMap<Clock | Lifetime, StatesByName>;

interface KeyStatesParts {
  readonly lifetime: Lifetime;
  /** Called with the state of each key that the client uses. */
  readonly onState: (state: KeyState, key: ApiKey) => void;
}

/** Finds the state of a key: one per origin and key in the process. */
export class KeyStates {
  readonly #settings: ClientSettings;
  readonly #parts: KeyStatesParts;
  readonly #generations = keyGenerations();
  /** One look-up per key, not one per request. */
  #latest: { readonly key: ApiKey; readonly state: KeyState } | undefined;

  constructor(settings: ClientSettings, parts: KeyStatesParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  of(key: ApiKey): KeyState {
    const generation = this.#generations.get(key.hash);
    if (this.#latest?.key !== key || this.#latest.state.generation !== generation) {
      this.#latest = { key, state: this.#find(key, generation) };
    }
    return this.#latest.state;
  }

  #find(key: ApiKey, generation: number | undefined): KeyState {
    const settings = this.#settings;
    const { lifetime, onState } = this.#parts;
    const states = statesOf(isolatesRequests() ? lifetime.root : settings.clock);
    const name = stateName(key.hash, settings);
    const found = states.get(name);
    if (lifetime.isClosed) return new KeyState(key, settings, { generation }); // it must not affect other clients
    const isCurrent = found !== undefined && found.generation === generation;
    const state = isCurrent ? found : new KeyState(key, settings, { generation, onClosed });
    function onClosed() {
      if (states.get(name) === state) states.delete(name);
    }
    states.set(name, state);
    lifetime.retain(state);
    onState(state, key);
    return state;
  }
}

function statesOf(owner: Clock | Lifetime): StatesByName {
  const shared = processState<Shared>(SHARED, () => new WeakMap());
  const states = shared.get(owner) ?? new Map();
  shared.set(owner, states);
  return states;
}
