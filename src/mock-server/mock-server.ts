import type { Dispatcher } from 'undici';
import type { PlanName } from '../generated/service.ts';
import type { ActiveAdapters } from './adapters/active-adapters.ts';
import type { Fetch } from './adapters/fetch.ts';
import { intercept } from './adapters/interception.ts';
import { loadUndici } from './adapters/load-undici.ts';
import type { MswHandler } from './adapters/msw-handler.ts';
import { createMswHandlers } from './adapters/msw-handlers.ts';
import type { Overrides } from './adapters/overrides.ts';
import { createDispatcher } from './adapters/undici-dispatcher.ts';
import { createMockBehaviour, type MockBehaviour } from './behaviour/mock-behaviour.ts';
import type { Clock, DrivenClock, MockClock } from './clock/clock.ts';
import { parseInstant } from './clock/instant.ts';
import { createMockClock } from './clock/mock-clock.ts';
import type { SocketUse } from './clock/socket-use.ts';
import type { FaultDelays } from './faults/fault-delays.ts';
import type { MockFaults } from './faults/mock-faults.ts';
import type { HandleRequest } from './handle-request.ts';
import { type Audit, auditOf } from './journal/audit.ts';
import { expectCount, type RequestExpectation } from './journal/expect-requests.ts';
import type { Journal } from './journal/journal.ts';
import { createMockJournal, type MockJournal } from './journal/mock-journal.ts';
import type { RequestFilter } from './journal/request-filter.ts';
import { type Accounts, createAccounts } from './service/accounts.ts';
import { type CreatedKey, createKeys, type Keys } from './service/keys.ts';
import { createOutbox, type Outbox } from './service/outbox.ts';
import type { ServiceContext, ServiceState } from './service/service-state.ts';
import { restoredState, type Snapshot, takeSnapshot } from './service/snapshot.ts';
import type { Space, SpaceOptions } from './spaces/space.ts';
import type { Spaces } from './spaces/spaces.ts';
import { type RunningServer, type ServeOptions, startServer } from './start-server.ts';
import { createSnapshots, type Snapshots } from './state/snapshots.ts';

/** The parts a mock is made of. */
export interface MockServerParts {
  readonly baseUrl: string;
  /** What the mock knows when it begins. */
  readonly firstState: () => ServiceState;
  readonly clock: DrivenClock;
  readonly context: ServiceContext;
  readonly journal: Journal;
  readonly overrides: Overrides;
  readonly handleRequest: HandleRequest;
  readonly fetch: Fetch;
  readonly faults: MockFaults;
  readonly adapters: ActiveAdapters;
  readonly waits: FaultDelays;
  readonly sockets: SocketUse;
  readonly spaces: Spaces;
  /** Makes another mock with the same options. */
  readonly remake: () => MockServer;
}

/** What the client takes to talk to a mock in process, in the mock's time. */
export interface ClientOptions {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** An emulated exchange-rate service; `createMockServer` makes one. */
export class MockServer implements AsyncDisposable {
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
  /** Snapshots by name, kept as long as the mock is. */
  readonly snapshots: Snapshots;
  readonly #parts: MockServerParts;
  readonly #servers = new Set<RunningServer>();
  #stopListening: (() => void) | undefined;

  constructor(parts: MockServerParts) {
    const { context } = parts;
    this.baseUrl = parts.baseUrl;
    this.fetch = parts.fetch;
    this.accounts = createAccounts(context);
    this.keys = createKeys(context);
    this.outbox = createOutbox(context);
    this.clock = createMockClock(parts.clock, context);
    this.behaviour = createMockBehaviour(context);
    this.journal = createMockJournal(parts.journal);
    this.faults = parts.faults;
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
    const { journal } = this.#parts;
    const matching = this.journal.list(filter).length;
    const counted = { filter, matching, all: journal.entries, dropped: journal.dropped };
    return { toHaveCount: (count) => expectCount(counted, count) };
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

  /**
   * The mock as request handlers for a test suite that already has msw: `setupServer(...mock.handlers)`. `never` is what
   * every version of msw takes for a handler: its own type cannot be named where msw is not installed.
   */
  get handlers(): never[] {
    this.#parts.adapters.open('msw');
    return createMswHandlers(this.baseUrl, this.#parts.handleRequest) as never[];
  }

  /** An undici dispatcher that answers for the mock and passes other origins on to the one that is global now. */
  get dispatcher(): Dispatcher {
    const { baseUrl } = this;
    const { handleRequest, adapters } = this.#parts;
    adapters.open('undici');
    const next = loadUndici().getGlobalDispatcher();
    return createDispatcher((origin) => (origin === baseUrl ? handleRequest : undefined), next);
  }

  /**
   * Intercepts global fetch, node:http and undici in this process until `close()`; other origins are not touched.
   * Needs msw. Throws when another mock listens at the same base URL.
   */
  listen(): void {
    if (this.#stopListening !== undefined) return;
    const { handleRequest, sockets, adapters } = this.#parts;
    const stop = intercept(this.baseUrl, handleRequest);
    const socketsGone = sockets.expect();
    const adaptersClosed = adapters.open('msw', 'undici');
    this.#stopListening = () => {
      stop();
      socketsGone();
      adaptersClosed();
    };
  }

  /** Serves the mock on a port. Default: any free port of 127.0.0.1. */
  async serve(options: ServeOptions = {}): Promise<RunningServer> {
    const onClose = () => void this.#servers.delete(server);
    const server = await startServer(options, { mock: this, parts: this.#parts, onClose });
    this.#servers.add(server);
    return server;
  }

  /**
   * An account and its key for one test, isolated from all others: counters, clock, switches, faults and journal of its
   * own. The mock tells the requests of a space by their key, so parallel tests may share a server or a connection.
   */
  space(options: SpaceOptions = {}): Space {
    return this.#parts.spaces.open(options);
  }

  /** Another mock with the same options and the same state, which from now on goes its own way. */
  fork(): MockServer {
    const copy = this.#parts.remake();
    copy.restore(this.snapshot());
    return copy;
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
    clock.set(now);
    if (snapshot.frozen) clock.freeze();
    else clock.resume();
    journal.clear();
  }

  /**
   * Goes back to the moment the mock was made: no account, key, fault or handler of `use()`, switches and clock as then.
   * Throws `MockServerError` with code `spaces_live` while spaces live.
   */
  reset(): void {
    const { context, journal, clock, overrides, firstState, waits, spaces } = this.#parts;
    spaces.refuseWhileLive('reset()');
    waits.endAll();
    Object.assign(context.state, firstState());
    context.behaviour.reset();
    overrides.clear();
    clock.reset();
    journal.clear();
  }

  /** Ends everything the mock has opened: spaces, interception and servers. */
  async close(): Promise<void> {
    await this.#parts.spaces.closeAll();
    this.#parts.waits.endAll();
    this.#stopListening?.();
    this.#stopListening = undefined;
    await Promise.all(Array.from(this.#servers, (server) => server.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
