import type { PlanName } from '../generated/service.ts';
import { createFetch, type Fetch } from './adapters/fetch.ts';
import type { MswHandler } from './adapters/overrides.ts';
import { createMockBehaviour, type MockBehaviour } from './behaviour/behaviour.ts';
import type { Clock, MockClock } from './clock/clock.ts';
import { createMockClock } from './clock/mock-clock.ts';
import { createMockFaults, type MockFaults } from './faults/mock-faults.ts';
import type { HandleRequest } from './http/mock-message.ts';
import {
  type Audit,
  auditOf,
  createExpectation,
  createMockJournal,
  type MockJournal,
  type RequestExpectation,
  verifyRequests,
} from './journal/mock-journal.ts';
import type { RequestFilter } from './journal/request-filter.ts';
import type { MockParts } from './mock-parts.ts';
import { checkOptionNames } from './mock-server-error.ts';
import { type Accounts, addAccount, createAccounts, createOutbox, type Outbox } from './service/accounts.ts';
import { type CreatedKey, createKeys, type Keys } from './service/keys.ts';
import { resetKeyUse, saveState } from './service/service-state.ts';
import { applySetup, type Setup, type SetupResult } from './setup.ts';
import { checkedSnapshot, type Snapshot, takeSnapshot } from './state/snapshot.ts';
import { createSnapshots, restoreSnapshot, type Snapshots } from './state/snapshots.ts';
import { createMockLatest, type MockLatest } from './stubs/mock-latest.ts';
import { createMockStubs, type MockStubs } from './stubs/mock-stubs.ts';

/** Client options that send requests to a mock in process and use its clock. */
export interface ClientOptions {
  /** Origin of the mock. */
  readonly baseUrl: string;
  /** Calls the mock in process. */
  readonly fetch: Fetch;
  /** The clock of the mock. */
  readonly clock: Clock;
}

/** Options of `mock.reset()`. */
export interface ResetOptions {
  /**
   * Whether accounts and keys stay, with nothing used of their limits except the usage in the option `setup`: for a server
   * whose key is already in use, such as that of `fxrates mock`.
   * @default false
   */
  readonly keepKeys?: boolean | undefined;
}

/** The methods that a mock and its spaces share. */
export class MockScope {
  /** Origin at which the mock responds in process. */
  readonly baseUrl: string;
  /** A `fetch` function that calls the mock in process. Rejects for other origins, as for an unknown host. */
  readonly fetch: Fetch;
  /** Accounts of the emulated service. */
  readonly accounts: Accounts;
  /** API keys of the emulated service. */
  readonly keys: Keys;
  /** The confirmation e-mails of new accounts. The mock sends no real e-mail. */
  readonly outbox: Outbox;
  /** The clock of the mock. Rate windows, quota periods and faults use it. */
  readonly clock: MockClock;
  /** Switches for undocumented behaviour. */
  readonly behaviour: MockBehaviour;
  /** The requests that the mock received, each with the reason for its response. */
  readonly journal: MockJournal;
  /** Faults: failures that the test defines. */
  readonly faults: MockFaults;
  /** Stubs: responses that the test defines. */
  readonly stubs: MockStubs;
  /** Sets the response of `latest`. */
  readonly latest: MockLatest;
  /** Named snapshots, kept in memory until the mock is discarded. */
  readonly snapshots: Snapshots;
  readonly #parts: MockParts;

  constructor(parts: MockParts, handleRequest: HandleRequest) {
    const { baseUrl } = parts;
    this.baseUrl = baseUrl;
    this.fetch = createFetch(baseUrl, handleRequest);
    this.accounts = createAccounts(parts);
    this.keys = createKeys(parts);
    this.outbox = createOutbox(parts);
    this.clock = createMockClock(parts.clock, parts);
    this.behaviour = createMockBehaviour(parts);
    this.journal = createMockJournal(parts.journal);
    this.faults = createMockFaults(parts);
    this.stubs = createMockStubs(parts);
    this.latest = createMockLatest(parts);
    this.snapshots = createSnapshots(this);
    this.#parts = parts;
  }

  /**
   * Creates an account with a confirmed e-mail address, and a key for it. The default plan is `'free'`.
   * @example const { key } = mock.createKey({ plan: 'developer' })
   */
  createKey(options: { readonly plan?: PlanName | undefined } = {}): CreatedKey {
    checkOptionNames(options, { what: 'an option of createKey()', known: ['plan'] });
    const { plan = 'free' } = options;
    const account = addAccount(this.#parts, { plan, isConfirmed: true });
    return this.keys.create({ accountId: account.id });
  }

  /**
   * Creates keys, changes switches, and adds responses and faults in one step: a setup, or JSON text of one, in which numbers
   * keep their digits. If a part is invalid, nothing changes. `reset()` removes them; it keeps the option `setup`.
   * @throws MockServerError with code `invalid_option`, which names the part, for example `stubs[2].status`;
   * `fault_not_possible`, as `mock.faults.add()`.
   * @example const { keys } = mock.setUp({ keys: [{ plan: 'developer' }], latest: { base: 'EUR', rates: { USD: 1.1 } } })
   */
  setUp(setup: Setup | string): SetupResult {
    const { state, behaviour } = this.#parts;
    const restoreState = saveState(state);
    const restoreSwitches = behaviour.save();
    try {
      return applySetup(setup, this);
    } catch (error) {
      restoreState();
      restoreSwitches();
      throw error;
    }
  }

  /**
   * Returns assertions about the requests that match `filter`, by default about all.
   * @throws MockServerError with code `unexpected_requests`, if an assertion fails.
   * @example mock.expectRequests({ status: 429 }).toHaveCount(1)
   */
  expectRequests(filter: RequestFilter = {}): RequestExpectation {
    return createExpectation((claim) => void verifyRequests(this.#parts.journal, filter, claim));
  }

  /** Returns requests that a well-behaved client does not send: early retries, keys in URLs, unknown paths. */
  audit(): Audit {
    return auditOf(this.#parts.journal);
  }

  /**
   * Returns the options that connect a client to the mock.
   * @example new FxRates({ apiKey: key, ...mock.clientOptions() })
   */
  clientOptions(): ClientOptions {
    return { baseUrl: this.baseUrl, fetch: this.fetch, clock: this.clock };
  }

  /**
   * Adds msw handlers that respond before the mock, through every adapter. The handler added last runs first. Requires msw.
   * @example mock.use(http.get('https://fxrates.test/api/v1/latest', () => HttpResponse.error()))
   */
  use(...handlers: readonly MswHandler[]): void {
    this.#parts.overrides.add(handlers);
  }

  /** Returns the state as plain JSON without secrets. Does not include the journal, spaces and handlers of `use()`. */
  snapshot(): Snapshot {
    return takeSnapshot(this.#parts, this.#parts.clock.isFrozen);
  }

  /**
   * Restores a snapshot of this or another mock, and clears the journal.
   * @throws MockServerError with code `invalid_snapshot`, for a snapshot that is damaged or of another version; then nothing
   * changes.
   */
  restore(snapshot: Snapshot): void {
    restoreSnapshot(this.#parts, checkedSnapshot(snapshot, this.#parts.behaviour));
  }

  /**
   * Restores the initial state: removes accounts, keys, faults, stubs and handlers of `use()`, clears the journal,
   * and resets switches and clock. A space keeps its account and key, and gets the stubs and faults of the option `setup`.
   */
  reset(options: ResetOptions = {}): void {
    checkOptionNames(options, { what: 'an option of reset()', known: ['keepKeys'] });
    const { keepKeys = false } = options;
    const { state, behaviour, journal, clock, overrides, firstState, delays } = this.#parts;
    delays.endAll();
    clock.reset();
    Object.assign(state, firstState(), keepKeys ? resetKeyUse(state, clock.now()) : {});
    behaviour.reset();
    overrides.clear();
    journal.clear();
  }
}
