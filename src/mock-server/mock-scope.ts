import type { PlanName } from '../generated/service.ts';
import { createFetch, type Fetch } from './adapters/fetch.ts';
import type { MswHandler } from './adapters/overrides.ts';
import { createMockBehaviour, type MockBehaviour } from './behaviour/mock-behaviour.ts';
import { type Clock, type MockClock, parseInstant } from './clock/clock.ts';
import { createMockClock } from './clock/mock-clock.ts';
import { createMockFaults, type MockFaults } from './faults/mock-faults.ts';
import { type Audit, auditOf } from './journal/audit.ts';
import { createExpectation, type RequestExpectation, verifyRequests } from './journal/expect-requests.ts';
import { createMockJournal, type MockJournal } from './journal/mock-journal.ts';
import type { RequestFilter } from './journal/request-filter.ts';
import type { MockParts } from './mock-parts.ts';
import { type Accounts, createAccounts } from './service/accounts.ts';
import { type CreatedKey, createKeys, type Keys } from './service/keys.ts';
import { createOutbox, type Outbox } from './service/outbox.ts';
import { restoredState, type Snapshot, takeSnapshot } from './service/snapshot.ts';
import { createSnapshots, type Snapshots } from './state/snapshots.ts';
import { createMockLatest, type MockLatest } from './stubs/mock-latest.ts';
import { createMockStubs, type MockStubs } from './stubs/mock-stubs.ts';

/** What the client takes to talk to a mock in process, in the mock's time. */
export interface ClientOptions {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** What a test drives: a mock, or a space of it, which alone its `fetch` then asks. */
export class MockScope {
  /** Where the mock answers in process. */
  readonly baseUrl: string;
  /** `fetch` for the mock alone: in process, nothing patched. Other origins are refused like an unknown host. */
  readonly fetch: Fetch;
  readonly accounts: Accounts;
  readonly keys: Keys;
  /** The confirmation mails of the dashboard's sign-ups; none leaves the mock. */
  readonly outbox: Outbox;
  readonly clock: MockClock;
  readonly behaviour: MockBehaviour;
  readonly journal: MockJournal;
  readonly faults: MockFaults;
  readonly stubs: MockStubs;
  /** What `latest` answers. */
  readonly latest: MockLatest;
  /** Snapshots by name, kept as long as the mock is. */
  readonly snapshots: Snapshots;
  readonly #parts: MockParts;

  constructor(parts: MockParts, handleRequest = parts.handleRequest) {
    const { baseUrl, context, adapters } = parts;
    this.baseUrl = baseUrl;
    this.fetch = createFetch(baseUrl, handleRequest);
    this.accounts = createAccounts(context);
    this.keys = createKeys(context);
    this.outbox = createOutbox(context);
    this.clock = createMockClock(parts.clock, context);
    this.behaviour = createMockBehaviour(context);
    this.journal = createMockJournal(parts.journal);
    this.faults = createMockFaults(context, adapters);
    this.stubs = createMockStubs(context);
    this.latest = createMockLatest(context);
    this.snapshots = createSnapshots(this);
    this.#parts = parts;
  }

  /** A confirmed account and its key in one line. Default plan: `'free'`. */
  createKey({ plan = 'free' }: { readonly plan?: PlanName } = {}): CreatedKey {
    const account = this.accounts.create({ plan });
    this.accounts.confirm(account.id);
    return this.keys.create({ accountId: account.id });
  }

  /** Says what a test expects of the requests that came: `mock.expectRequests({ status: 429 }).toHaveCount(1)`. */
  expectRequests(filter: RequestFilter = {}): RequestExpectation {
    return createExpectation((claim) => void verifyRequests(this.#parts.journal, filter, claim));
  }

  /** Requests that came too early, keys in URLs, and paths that lead nowhere. */
  audit(): Audit {
    return auditOf(this.#parts.journal);
  }

  /** Options for `new FxRates({ apiKey, ...mock.clientOptions() })`. */
  clientOptions(): ClientOptions {
    return { baseUrl: this.baseUrl, fetch: this.fetch, clock: this.clock };
  }

  /** Adds or overrides routes, in every mode; the last added is asked first. Needs msw. */
  use(...handlers: readonly MswHandler[]): void {
    this.#parts.overrides.add(handlers);
  }

  /** Everything the mock knows, as plain JSON without secrets; not its spaces, nor the handlers of `use()`. */
  snapshot(): Snapshot {
    const { context, clock } = this.#parts;
    return takeSnapshot(context, clock.isFrozen);
  }

  /** Goes back to a snapshot, of this mock or another; the journal begins anew. */
  restore(snapshot: Snapshot): void {
    const { context, journal, clock } = this.#parts;
    // A copy: what happens from now on must not change the snapshot.
    const state = restoredState(structuredClone(snapshot));
    const now = parseInstant('snapshot.now', snapshot.now);
    context.behaviour.restore(snapshot.behaviour);
    Object.assign(context.state, state);
    // Frozen first: a clock that runs would be past `now` by the time it is frozen.
    if (snapshot.frozen) clock.freeze();
    clock.set(now);
    if (!snapshot.frozen) clock.resume();
    journal.clear();
  }

  /**
   * Goes back to the moment the mock was made: no account, key, fault, stub or handler of `use()`, switches and clock as then;
   * a space keeps its account and key.
   */
  reset(): void {
    const { context, journal, clock, overrides, firstState, delays } = this.#parts;
    delays.endAll();
    Object.assign(context.state, firstState());
    context.behaviour.reset();
    overrides.clear();
    clock.reset();
    journal.clear();
  }
}
