import * as z from 'zod';
import { createFetch, type Fetch } from '../adapters/fetch.ts';
import type { BehaviourOptions } from '../behaviour/behaviour.ts';
import type { PresetName } from '../behaviour/switch.ts';
import {
  type Clock,
  type ClockOptions,
  LATEST_MS,
  MOMENT_WORDS,
  type MockClock,
  parseInstant,
} from '../clock/clock.ts';
import { BEFORE_THE_END, DrivenClock } from '../clock/driven-clock.ts';
import { atOnce, checkedInput, eachOf, idSchema, strictObject, type ValueOf } from '../input/checked-input.ts';
import { freeName, invalidOption, MockServerError, withId } from '../input/mock-server-error.ts';
import { type Audit, auditOf, type RequestFilter } from '../journal/journal.ts';
import {
  createExpectation,
  createMockJournal,
  type MockJournal,
  type RequestExpectation,
  verifyRequests,
} from '../journal/mock-journal.ts';
import { checkAdapterSupport } from '../rules/failures.ts';
import { createMockLatest, type MockLatest } from '../rules/latest-rules.ts';
import { checkKeyIds, createMockRules, expectAllUsed, type MockRules } from '../rules/mock-rules.ts';
import { type Accounts, createAccounts } from '../service/accounts.ts';
import { quotaPeriod, quotaUse } from '../service/decide.ts';
import {
  type CreatedKey,
  type CreateKeyOptions,
  createKeys,
  createKeyWithAccount,
  hashOf,
  type Keys,
  newKey,
} from '../service/keys.ts';
import { createMockBehaviour, type MockBehaviour } from '../service/mock-behaviour.ts';
import { MINUTE_MS, rateLimitOf } from '../service/rate-windows.ts';
import { keyLimitOptions, planName, renewKeys, type ServiceContext } from '../service/service-state.ts';
import { createHandler } from './handle-request.ts';
import {
  applySetup,
  closeMock,
  createSpaceState,
  initialStateOfSpace,
  type MockState,
  reopenMock,
  startState,
} from './mock-state.ts';
import { type CheckedSetup, checkedSetup, type Setup, type SetupResult } from './options.ts';
import { checkedSnapshot, restoreSnapshot, type Snapshot, takeSnapshot } from './snapshot.ts';

/** Client options that send requests to a mock in process and use its clock. */
export interface ClientOptions {
  /** Origin of the mock. */
  readonly baseUrl: string;
  /** Calls the mock in process. */
  readonly fetch: Fetch;
  /** The clock of the mock. */
  readonly clock: Clock;
}

/** The methods that a mock and its spaces share. */
export class MockMethods {
  /** Origin at which the mock responds in process. */
  readonly baseUrl: string;
  /** A `fetch` function that calls the mock in process. Rejects for other origins, as for an unknown host. */
  readonly fetch: Fetch;
  /** Accounts of the emulated service. */
  readonly accounts: Accounts;
  /** API keys of the emulated service. */
  readonly keys: Keys;
  /** The clock of the mock. Rate windows, quota periods and rules use it. */
  readonly clock: MockClock;
  /** Switches for undocumented behaviour. */
  readonly behaviour: MockBehaviour;
  /** The requests that the mock received, each with the reason for its response. */
  readonly journal: MockJournal;
  /** Rules: responses, delays and failures that the test defines. */
  readonly rules: MockRules;
  /** Sets the response of `latest`. */
  readonly latest: MockLatest;
  readonly #mock: MockState;
  readonly #clientFetch: Fetch;

  constructor(mock: MockState, handleRequest = createHandler(mock)) {
    const { baseUrl } = mock.options;
    this.baseUrl = baseUrl;
    this.fetch = createFetch(baseUrl, handleRequest);
    this.#clientFetch = createFetch(baseUrl, handleRequest, mock.clock);
    this.accounts = createAccounts(mock);
    this.keys = createKeys(mock);
    this.clock = createMockClock(mock.clock, mock);
    this.behaviour = createMockBehaviour(mock);
    this.journal = createMockJournal(mock);
    this.rules = createMockRules(mock);
    this.latest = createMockLatest(mock);
    this.#mock = mock;
  }

  /**
   * Creates an account with a confirmed e-mail address, and a key for it. The default plan is `'free'`.
   * @throws MockServerError with code `invalid_option`.
   * @example const { key } = mock.createKey({ limits: { requests: 2, windowMs: 1_000, monthly: 5 } })
   */
  createKey(options: CreateKeyOptions = {}): CreatedKey {
    return createKeyWithAccount(this.#mock, checkedInput(newKey, options, { what: 'an option of createKey()' }));
  }

  /**
   * Creates keys, changes switches, and adds rules in one step: a setup, or JSON text of one, in which numbers keep their
   * digits. If a part is invalid, nothing changes. `reset()` removes them; it keeps the option `setup`.
   * @throws MockServerError with code `invalid_option`, which names the part, for example `rules[2].respond.status`;
   * `rule_not_possible`, as `mock.rules.add()`.
   * @example const { keys } = mock.setUp({ keys: [{ plan: 'developer' }], rules: [{ nth: 3, respond: { status: 503 } }] })
   */
  setUp(setup: Setup | string): SetupResult {
    const checked = checkedSetup(setup);
    checkPossible(checked, this.#mock);
    return applySetup(checked, this.#mock);
  }

  /**
   * Returns assertions about the requests that match `filter`, by default about all.
   * @throws MockServerError with code `unexpected_requests`, if an assertion fails; `slow_pattern`.
   * @example mock.expectRequests({ status: 429 }).toHaveCount(1)
   */
  expectRequests(filter: RequestFilter = {}): RequestExpectation {
    return createExpectation((claim) => void atOnce(verifyRequests(this.#mock, filter, claim)));
  }

  /**
   * Asserts that each rule did something with a request. A misspelt pattern would otherwise pass unnoticed. Does not cover
   * the rules of a recording.
   * @throws MockServerError with code `unused_rules`, which names the others.
   */
  expectAllUsed(): void {
    expectAllUsed(this.#mock);
  }

  /** Returns requests that a well-behaved client does not send: early retries, keys in URLs, unknown paths. */
  audit(): Audit {
    return auditOf(this.#mock.journal);
  }

  /**
   * Returns the options that connect a client to the mock.
   * @example new FxRates({ apiKey: key, ...mock.clientOptions() })
   */
  clientOptions(): ClientOptions {
    return { baseUrl: this.baseUrl, fetch: this.#clientFetch, clock: this.clock };
  }

  /** Returns the state as plain JSON without secrets. Does not include the journal and spaces. */
  snapshot(): Snapshot {
    return takeSnapshot(this.#mock);
  }

  /**
   * Restores a snapshot of this mock, of another one, or of this space, and clears the journal. A rule with a function gets
   * that of the current rule with its id; without one, it is left out, and a process warning names it.
   * @throws MockServerError with code `invalid_snapshot`, if the snapshot is damaged or of another version, lacks the key of
   * the space, or has the key of an open space. Nothing changes then.
   * @example mock.restore(prepared)
   */
  restore(snapshot: Snapshot): void {
    restoreSnapshot(this.#mock, checkedSnapshot(snapshot, this.#mock.behaviour));
  }

  /**
   * Restores the initial state: removes accounts, keys and rules, clears the journal, resets switches and clock, and applies
   * the options `rules` and `setup` again. The keys of the setup, and that of a space, are the same as before.
   * @throws MockServerError with code `spaces_live`, while spaces of the mock are open.
   */
  reset(): void {
    const { spaces, behaviour, journal, clock, delays, state } = this.#mock;
    if (spaces.size > 0) {
      const text = `reset() is not possible while spaces are open (${Array.from(spaces.keys()).join(', ')}); close them, or reset each space.`;
      throw new MockServerError(text, { code: 'spaces_live', status: 409 });
    }
    delays.endAll();
    clock.reset();
    behaviour.reset();
    renewKeys(state);
    startState(this.#mock);
    journal.clear();
    reopenMock(this.#mock);
  }
}

/** Throws for a part of a setup that this mock cannot have. */
function checkPossible({ behaviour, keys, rules }: CheckedSetup, mock: MockState): void {
  const { state, adapters } = mock;
  if (behaviour !== undefined) mock.behaviour.copy(behaviour); // throws for a wrong value
  // Rules can name the keys that the setup creates.
  const created = keys.map((_, index) => `key_${state.lastKey + index + 1}`);
  checkKeyIds(rules, new Set([...state.keys.keys(), ...created]));
  eachOf('rules', rules, (rule) => checkAdapterSupport(rule, adapters.inUse));
}

/** The public clock: it also advances to times of the service, and never moves back. */
function createMockClock(clock: DrivenClock, context: ServiceContext): MockClock {
  return {
    mode: clock.mode,
    get isFrozen() {
      return clock.isFrozen;
    },
    freeze: () => clock.freeze(),
    resume: () => clock.resume(),
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    async advance(ms) {
      if (!(Number.isInteger(ms) && ms >= 0)) {
        throw invalidOption('advance', ms, 'whole milliseconds from 0; the clock cannot move backwards');
      }
      return await clock.advanceTo((now) => checkedTarget({ advance: ms }, now + ms));
    },
    async advanceTo(moment) {
      const next = moment === 'quota-reset' ? nextQuotaReset : moment === 'next-window' ? nextWindow : undefined;
      if (next !== undefined) return await clock.advanceTo(() => checkedTarget({ advanceTo: moment }, next(context)));
      const at = parseInstant('advanceTo', moment, MOMENT_WORDS);
      if (at < clock.now()) {
        const now = new Date(clock.now()).toISOString();
        throw invalidOption('advanceTo', moment, `a moment not before ${now}; the clock cannot move backwards`);
      }
      return await clock.advanceTo(() => at);
    },
  };
}

/** Later times have no ISO 8601 form with four digits of the year. */
function checkedTarget(given: Readonly<Record<string, unknown>>, at: number): number {
  if (at <= LATEST_MS) return at;
  const [[method = '', value] = []] = Object.entries(given);
  throw invalidOption(method, value, `a move to a time ${BEFORE_THE_END}`);
}

/** The next end of a quota period of any key; without keys, of a period that starts now. */
function nextQuotaReset(context: ServiceContext): number {
  const { behaviour, state } = context;
  const now = context.now();
  const none = { createdAt: now, usedFrom: undefined };
  let earliest = Number.POSITIVE_INFINITY;
  for (const key of state.keys.values()) earliest = Math.min(earliest, quotaUse(key, now, behaviour).resetsAt);
  return Number.isFinite(earliest) ? earliest : quotaPeriod(behaviour.use('quotaPeriod'), now, none).end;
}

/** The first time at which every key has its full per-minute limit; the next minute if no key is in use. */
function nextWindow({ state, now }: ServiceContext): number {
  let latest = 0;
  for (const key of state.keys.values()) {
    for (const used of [key.window, key.quotaEndpointWindow]) {
      latest = Math.max(latest, used?.fullAt(rateLimitOf(key), now()) ?? 0);
    }
  }
  return latest > now() ? latest : (Math.floor(now() / MINUTE_MS) + 1) * MINUTE_MS;
}

export const spaceOptions = strictObject({
  /**
   * Name of the space, which determines its key. Up to 64 letters, digits, `_`, `.` and `-`.
   * @default 'space_1', 'space_2', …
   */
  name: idSchema.optional().describe('Name of the space, which determines its key. Letters, digits, `_`, `.` and `-`.'),
  /**
   * Plan of the account of the space.
   * @default 'free'
   */
  plan: planName.optional(),
  /**
   * Limits of its key in place of those of the plan, as in `mock.createKey()`.
   * @default the limits of the plan
   */
  limits: keyLimitOptions.optional(),
  /**
   * Clock of the space.
   * @default the mode and the current time of the mock's clock
   */
  clock: z.custom<'real' | 'virtual' | ClockOptions>().optional(),
  /**
   * Switches that differ from the current ones of the mock.
   * @default the current switches of the mock
   */
  behaviour: z.custom<PresetName | BehaviourOptions>().optional(),
});

/** Options of `mock.space()`. All are optional. */
export interface SpaceOptions extends ValueOf<typeof spaceOptions> {}

/**
 * A part of a mock for one test: an account and a key with separate counters, clock, switches, rules and journal. The key of a request selects its space, through every adapter. Requests without a known key belong to the
 * mock itself.
 */
export class Space extends MockMethods implements AsyncDisposable {
  /** Name of the space, also part of its admin routes. */
  readonly name: string;
  /** The full API key. `inspect` and `JSON.stringify` do not show it. */
  readonly key: string;
  /** Id of the key. */
  readonly keyId: string;
  /** Id of the account. */
  readonly accountId: string;
  readonly #mock: MockState;

  constructor(name: string, mock: MockState) {
    super(mock);
    const [{ key = '', id = '', accountId = '' } = {}] = startState(mock);
    this.name = name;
    this.key = key;
    this.keyId = id;
    this.accountId = accountId;
    this.#mock = mock;
    Object.defineProperty(this, 'key', { enumerable: false });
  }

  /** Closes the space. Its keys are then unknown to the mock. */
  async close(): Promise<void> {
    closeMock(this.#mock);
  }

  /** Calls `close()` at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Opens a space of a mock. */
export function openSpace(mock: MockState, options: SpaceOptions): Space {
  const { state, spaces } = mock;
  const { plan, limits, behaviour, ...given } = checkedInput(spaceOptions, options, { what: 'an option of space()' });
  const { mode, autoAdvance, isFrozen: frozen } = mock.clock;
  const { clock = { mode, autoAdvance, frozen, now: mock.clock.ownNow } } = given;
  const { name = freeName('space', state.lastSpace + 1, (taken) => spaces.has(taken)) } = given;
  if (spaces.has(name)) {
    const text = `The space ${name} is already open; close it first, or choose another name.`;
    throw new MockServerError(text, { code: 'space_exists', status: 409 });
  }
  const opened = createSpaceState(mock, {
    name,
    behaviour: mock.behaviour.copy(behaviour),
    clock: new DrivenClock(clock, mock.adapters),
    seed: state.seed, // after `restore()`, it is that of the snapshot
    initial: initialStateOfSpace(mock, { plan, limits }),
  });
  const space = new Space(name, opened);
  if (state.keysByHash.has(hashOf(space.key))) {
    if (given.name === undefined) {
      state.lastSpace += 1; // another name has another key
      return openSpace(mock, options);
    }
    const text = `The mock has the key of the space ${name} from a snapshot; reset the mock, or choose another name.`;
    throw new MockServerError(text, { code: 'space_exists', status: 409 });
  }
  spaces.set(name, opened);
  state.lastSpace += 1;
  return space;
}

/** Finds an open space. Throws `MockServerError` with code `not_found`. */
export function findSpace({ spaces }: MockState, name: string): MockState {
  return withId('space', name, spaces);
}
