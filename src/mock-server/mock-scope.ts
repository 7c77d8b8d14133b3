import type { PlanName } from '../generated/service.ts';
import { createFetch, type Fetch } from './adapters/fetch.ts';
import type { MswHandler } from './adapters/overrides.ts';
import { createMockBehaviour, type MockBehaviour } from './behaviour/behaviour.ts';
import type { Clock, MockClock } from './clock/clock.ts';
import { createMockClock } from './clock/mock-clock.ts';
import { createMockFaults, type MockFaults } from './faults/mock-faults.ts';
import { createHandler } from './handle.ts';
import { applySetup, type ResetOptions, resetOptions, startState } from './initial-state.ts';
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
import { checkedInput } from './matching/checked-input.ts';
import { createChild, type MockCore } from './mock-core.ts';
import { checkedSetup, type Setup, type SetupResult } from './mock-options.ts';
import { MockServerError } from './mock-server-error.ts';
import { type Accounts, createAccounts, createOutbox, type Outbox } from './service/accounts.ts';
import { type CreatedKey, createKeys, createKeyWithAccount, type Keys, newKey } from './service/keys.ts';
import { copiedState, restoreSnapshot, type Snapshot, takeSnapshot } from './state/snapshot.ts';
import { createMockLatest, createMockStubs, type MockLatest, type MockStubs } from './stubs/mock-stubs.ts';

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
  readonly #core: MockCore;
  /** Another object after each reset: clients of one key and one clock share a limit, which a reset must not keep. */
  #clientClock: Clock;

  constructor(core: MockCore) {
    const { baseUrl } = core.options;
    this.baseUrl = baseUrl;
    this.fetch = createFetch(baseUrl, createHandler(core));
    this.accounts = createAccounts(core);
    this.keys = createKeys(core);
    this.outbox = createOutbox(core);
    this.clock = createMockClock(core.clock, core);
    this.behaviour = createMockBehaviour(core);
    this.journal = createMockJournal(core);
    this.faults = createMockFaults(core);
    this.stubs = createMockStubs(core);
    this.latest = createMockLatest(core);
    this.#core = core;
    this.#clientClock = Object.create(this.clock);
  }

  /**
   * Creates an account with a confirmed e-mail address, and a key for it. The default plan is `'free'`.
   * @example const { key } = mock.createKey({ plan: 'developer' })
   */
  createKey(options: { readonly plan?: PlanName | undefined } = {}): CreatedKey {
    const { plan } = checkedInput(newKey, options, { what: 'an option of createKey()' });
    return createKeyWithAccount(this.#core, plan);
  }

  /**
   * Creates keys, changes switches, and adds responses and faults in one step: a setup, or JSON text of one, in which numbers
   * keep their digits. If a part is invalid, nothing changes. `reset()` removes them; it keeps the option `setup`.
   * @throws MockServerError with code `invalid_option`, which names the part, for example `stubs[2].status`;
   * `fault_not_possible`, as `mock.faults.add()`.
   * @example const { keys } = mock.setUp({ keys: [{ plan: 'developer' }], latest: { base: 'EUR', rates: { USD: 1.1 } } })
   */
  setUp(setup: Setup | string): SetupResult {
    const core = this.#core;
    const checked = checkedSetup(setup);
    // Applied to a copy first, so that nothing changes if it throws.
    applySetup(
      checked,
      createChild(core, { ...core, behaviour: core.behaviour.copy(), emptyState: () => copiedState(core) }),
    );
    return applySetup(checked, core);
  }

  /**
   * Returns assertions about the requests that match `filter`, by default about all.
   * @throws MockServerError with code `unexpected_requests`, if an assertion fails.
   * @example mock.expectRequests({ status: 429 }).toHaveCount(1)
   */
  expectRequests(filter: RequestFilter = {}): RequestExpectation {
    return createExpectation((claim) => void verifyRequests(this.#core, filter, claim));
  }

  /** Returns requests that a well-behaved client does not send: early retries, keys in URLs, unknown paths. */
  audit(): Audit {
    return auditOf(this.#core);
  }

  /**
   * Returns the options that connect a client to the mock.
   * @example new FxRates({ apiKey: key, ...mock.clientOptions() })
   */
  clientOptions(): ClientOptions {
    return { baseUrl: this.baseUrl, fetch: this.fetch, clock: this.#clientClock };
  }

  /**
   * Adds msw handlers that respond before the mock, through every adapter. The handler added last runs first. Requires msw.
   * @example mock.use(http.get('https://fxrates.test/api/v1/latest', () => HttpResponse.error()))
   */
  use(...handlers: readonly MswHandler[]): void {
    this.#core.overrides.add(handlers);
  }

  /** Returns the state as plain JSON without secrets. Does not include the journal, spaces and handlers of `use()`. */
  snapshot(): Snapshot {
    return takeSnapshot(this.#core);
  }

  /**
   * Restores a snapshot of this mock or space or of another one, and clears the journal. A space keeps its key, which gets the
   * plan and usage of the only key of the snapshot.
   * @throws MockServerError with code `invalid_snapshot`, if the snapshot is damaged or of another version, if it has other
   * keys than the space, or the key of an open space. Nothing changes then.
   * @example space.restore(prepared.snapshot())
   */
  restore(snapshot: Snapshot): void {
    restoreSnapshot(this.#core, snapshot);
    this.#clientClock = Object.create(this.clock);
  }

  /**
   * Restores the initial state: removes accounts, keys, faults, stubs and handlers of `use()`, clears the journal, resets
   * switches and clock, and applies the option `setup` again. A space keeps its account and key.
   * @throws MockServerError with code `spaces_live`, while spaces of the mock are open.
   */
  reset(options: ResetOptions = {}): void {
    const { keepKeys } = checkedInput(resetOptions, options, { what: 'an option of reset()' });
    const { spaces, behaviour, journal, clock, overrides, delays } = this.#core;
    if (spaces.size > 0) {
      const text = `reset() is not possible while spaces are open (${Array.from(spaces.keys()).join(', ')}); close them, or reset each space.`;
      throw new MockServerError(text, { code: 'spaces_live', status: 409 });
    }
    delays.endAll();
    clock.reset();
    this.#clientClock = Object.create(this.clock);
    behaviour.reset();
    startState(this.#core, { keepKeys });
    overrides.clear();
    journal.clear();
  }
}
