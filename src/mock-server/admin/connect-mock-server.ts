import type { BehaviourOptions, SwitchDescription } from '../behaviour/behaviour.ts';
import type { PresetName } from '../behaviour/switch.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';
import type { MockClock } from '../clock/clock.ts';
import type { MockFaults } from '../faults/mock-faults.ts';
import { checkedClaim, createExpectation, type RequestExpectation } from '../journal/expect-requests.ts';
import type { JournalEntry } from '../journal/journal.ts';
import type { MockJournal, WaitOptions } from '../journal/mock-journal.ts';
import type { RequestFilter } from '../journal/request-filter.ts';
import type { MockScope } from '../mock-scope.ts';
import { invalidOption, MockServerError } from '../mock-server-error.ts';
import type { Accounts } from '../service/accounts.ts';
import type { Keys } from '../service/keys.ts';
import type { Outbox } from '../service/outbox.ts';
import type { Space, SpaceOptions } from '../spaces.ts';
import type { Snapshots } from '../state/snapshots.ts';
import type { LatestData, LatestOptions } from '../stubs/mock-latest.ts';
import type { MockStubs } from '../stubs/mock-stubs.ts';
import type { Replay } from '../stubs/replay.ts';
import type { LatestFunction } from '../stubs/stub-schemas.ts';
import { ADMIN_ROOT } from '../web/own-pages.ts';
import { type CallAdmin, createAdminCall } from './admin-client.ts';

/** A mock server in another process. It has the methods of a mock that need no function of this process, as promises. */
export interface RemoteMockServer extends RemoteScope {
  /**
   * Opens a space, as `mock.space()` does.
   * @throws MockServerError with code `space_exists`, if a space with this name is open.
   */
  space(options?: SpaceOptions): Promise<RemoteSpace>;
  /**
   * Closes all spaces, including those that other processes opened, for example a test run that was killed. Resolves to the
   * names of the closed spaces.
   */
  closeSpaces(): Promise<readonly string[]>;
}

/** A space of a mock server in another process. Its methods return promises. */
export type RemoteSpace = RemoteScope & Pick<Space, 'name' | 'key' | 'keyId' | 'accountId' | 'close'> & AsyncDisposable;

/**
 * Connects to a mock server in another process, by its `adminUrl`, or by its URL and the admin token. Methods reject with the `MockServerError` of the mock, or with code `no_mock_server` if the server is not a mock.
 * @throws MockServerError with code `invalid_option`, for an invalid URL or a missing token.
 * @example const remote = connectMockServer(process.env.FXRATES_MOCK_ADMIN_URL)
 */
export function connectMockServer(url: string, token = tokenIn(url)): RemoteMockServer {
  if (!URL.canParse(url)) throw invalidOption('url', url, 'the adminUrl that the mock server prints when it starts');
  if (token === undefined || token === '') {
    const text = 'token is missing; pass the adminUrl that the mock server prints when it starts, or the admin token.';
    throw new MockServerError(text, { code: 'invalid_option', field: 'token' });
  }
  const { origin } = new URL(url);
  const adminUrl = `${origin}${ADMIN_ROOT}`;
  const call = createAdminCall(adminUrl, token);
  return {
    ...createRemoteScope(call, origin),
    async space(options = {}) {
      const opened = await call('POST /spaces', { body: options });
      const close = () => call('DELETE /spaces/{space}', { path: { space: opened.name } });
      const callSpace = createAdminCall(`${adminUrl}/spaces/${opened.name}`, token);
      const scope = createRemoteScope(callSpace, origin);
      return { ...scope, ...opened, close, [Symbol.asyncDispose]: close };
    },
    closeSpaces: async () => (await call('DELETE /spaces')).map(({ name }) => name),
  };
}

function tokenIn(url: string): string | undefined {
  return /#token=([\w-]+)$/.exec(url)?.[1];
}

/** The methods of `Local`; they return promises. */
export type Remote<Local> = {
  readonly [Name in keyof Local]: Local[Name] extends (...parameters: infer Parameters) => infer Result
    ? (...parameters: Parameters) => Promise<Awaited<Result>>
    : never;
};

/** The methods of a mock or a space in another process. */
export interface RemoteScope
  extends Remote<Pick<MockScope, 'createKey' | 'setUp' | 'audit' | 'snapshot' | 'restore' | 'reset'>> {
  /** URL of the server, for the client's option `baseUrl`. */
  readonly baseUrl: string;
  /** Accounts of the emulated service. */
  readonly accounts: Remote<Accounts>;
  /** API keys of the emulated service. */
  readonly keys: Remote<Keys>;
  /** The confirmation e-mails of new accounts. */
  readonly outbox: Remote<Outbox>;
  /** Named snapshots, kept in the memory of the server. */
  readonly snapshots: Remote<Snapshots>;
  /** Faults: failures that the test defines. */
  readonly faults: Remote<MockFaults>;
  /** Stubs: responses that the test defines. */
  readonly stubs: Remote<MockStubs>;
  /** Sets the response of `latest`. */
  readonly latest: RemoteLatest;
  /** The clock of the mock. Rate windows, quota periods and faults use it. */
  readonly clock: Remote<Pick<MockClock, 'now' | 'advance' | 'advanceTo' | 'freeze' | 'resume'>>;
  /** Switches for undocumented behaviour. */
  readonly behaviour: RemoteBehaviour;
  /** The requests that the mock received, each with the reason for its response. */
  readonly journal: RemoteJournal;
  /** Returns assertions, as `mock.expectRequests()` does. They return promises. */
  expectRequests(filter?: RequestFilter): Remote<RequestExpectation>;
}

/** Sets the response of `latest` in another process. */
export interface RemoteLatest {
  /** Sets the `data` of `latest`, as `mock.latest.set()` does. Does not accept functions. */
  set<Data extends LatestData>(
    data: Data extends LatestFunction ? never : Data,
    options?: LatestOptions,
  ): Promise<void>;
  /** Responds from a recording, as `mock.latest.replay()` does. */
  replay(recording: Replay): Promise<void>;
  /** Removes the responses of `set` and `replay`, all of them or those for one base. */
  reset(options?: LatestOptions): Promise<void>;
}

/** The switches of a mock in another process. */
export interface RemoteBehaviour {
  /** Returns the current value of each switch. */
  values(): Promise<BehaviourValues>;
  /** Returns each switch with its value, default, alternatives and provenance. */
  describe(): Promise<readonly SwitchDescription[]>;
  /** Changes switches, as `mock.behaviour.set()` does. */
  set(options: PresetName | BehaviourOptions): Promise<void>;
}

/** The journal of a mock in another process. */
export interface RemoteJournal extends Remote<Pick<MockJournal, 'clear'>> {
  /** Waits for requests, as `mock.journal.waitFor()` does. `timeoutMs` is at most 240,000. */
  waitFor(filter?: RequestFilter, options?: WaitOptions): Promise<readonly JournalEntry[]>;
  /**
   * Returns the newest `limit` requests, oldest first; with `after`, the oldest ones after that number. The default and the
   * maximum of `limit` are 1000.
   */
  list(filter?: RequestFilter & { readonly limit?: number | undefined }): Promise<readonly JournalEntry[]>;
  /** Returns the number of older requests that were dropped. */
  dropped(): Promise<number>;
}

function createRemoteScope(call: CallAdmin, baseUrl: string): RemoteScope {
  return {
    baseUrl,
    accounts: remoteAccounts(call),
    keys: remoteKeys(call),
    outbox: {
      list: (query = {}) => call('GET /outbox', { query }),
      clear: () => call('DELETE /outbox'),
    },
    snapshots: remoteSnapshots(call),
    faults: remoteFaults(call),
    stubs: remoteStubs(call),
    latest: {
      set: (data, query = {}) => call('PUT /latest', { body: data, query }),
      replay: (recording) => call('PUT /latest/replay', { body: recording }),
      reset: (query = {}) => call('DELETE /latest', { query }),
    },
    clock: remoteClock(call),
    behaviour: {
      values: () => call('GET /behaviour'),
      describe: () => call('GET /behaviour/describe'),
      async set(options) {
        await call('PATCH /behaviour', { body: typeof options === 'string' ? { preset: options } : options });
      },
    },
    journal: remoteJournal(call),
    expectRequests: (filter = {}) =>
      createExpectation(
        async (claim) => void (await call('POST /requests/verify', { body: { filter, ...checkedClaim(claim) } })),
      ),
    audit: () => call('GET /audit'),
    createKey: (options = {}) => call('POST /keys', { body: options }),
    setUp: (setup) => call('POST /setup', { body: setup }),
    snapshot: () => call('GET /state'),
    restore: (snapshot) => call('PUT /state', { body: snapshot }),
    reset: (options = {}) => call('POST /reset', { body: options }),
  };
}

function remoteFaults(call: CallAdmin): Remote<MockFaults> {
  return {
    add: (fault) => call('POST /faults', { body: fault }),
    list: () => call('GET /faults'),
    get: (faultId) => call('GET /faults/{faultId}', { path: { faultId } }),
    remove: (faultId) => call('DELETE /faults/{faultId}', { path: { faultId } }),
    clear: () => call('DELETE /faults'),
  };
}

function remoteStubs(call: CallAdmin): Remote<MockStubs> {
  return {
    add: (stub) => call('POST /stubs', { body: stub }),
    list: () => call('GET /stubs'),
    get: (stubId) => call('GET /stubs/{stubId}', { path: { stubId } }),
    remove: (stubId) => call('DELETE /stubs/{stubId}', { path: { stubId } }),
    clear: () => call('DELETE /stubs'),
  };
}

function remoteSnapshots(call: CallAdmin): Remote<Snapshots> {
  return {
    save: async (name) => (await call('POST /snapshots', { body: { id: name } })).id,
    restore: (snapshotId) => call('POST /snapshots/{snapshotId}/restore', { path: { snapshotId } }),
    list: async () => (await call('GET /snapshots')).map(({ id }) => id),
    delete: (snapshotId) => call('DELETE /snapshots/{snapshotId}', { path: { snapshotId } }),
  };
}

function remoteAccounts(call: CallAdmin): Remote<Accounts> {
  return {
    create: (options = {}) => call('POST /accounts', { body: options }),
    confirm: (accountId) => call('POST /accounts/{accountId}/confirm', { path: { accountId } }),
    sendConfirmation: (accountId) => call('POST /accounts/{accountId}/mails', { path: { accountId } }),
    get: (accountId) => call('GET /accounts/{accountId}', { path: { accountId } }),
    setPlan: (accountId, plan) => call('PUT /accounts/{accountId}/plan', { path: { accountId }, body: { plan } }),
    list: () => call('GET /accounts'),
  };
}

function remoteKeys(call: CallAdmin): Remote<Keys> {
  return {
    create: ({ accountId }) => call('POST /accounts/{accountId}/keys', { path: { accountId } }),
    revoke: (keyId) => call('DELETE /keys/{keyId}', { path: { keyId } }),
    get: (keyId) => call('GET /keys/{keyId}', { path: { keyId } }),
    list: (query = {}) => call('GET /keys', { query }),
    setUsage: (keyId, usage) => call('PUT /keys/{keyId}/usage', { path: { keyId }, body: usage }),
  };
}

function remoteClock(call: CallAdmin): RemoteScope['clock'] {
  return {
    now: async () => (await call('GET /clock')).now,
    advance: async (ms) => (await call('POST /clock', { body: { advanceMs: ms } })).now,
    advanceTo: async (moment) => {
      // JSON has no dates.
      const advanceTo = moment instanceof Date ? moment.getTime() : moment;
      return (await call('POST /clock', { body: { advanceTo } })).now;
    },
    freeze: async () => void (await call('POST /clock', { body: { frozen: true } })),
    resume: async () => void (await call('POST /clock', { body: { frozen: false } })),
  };
}

const MOST_LISTED = 1000;

function remoteJournal(call: CallAdmin): RemoteScope['journal'] {
  return {
    list: async (filter = {}) =>
      (await call('POST /requests/find', { body: { limit: MOST_LISTED, ...filter } })).entries,
    dropped: async () => (await call('GET /requests', { query: { limit: 1 } })).dropped,
    waitFor: async (filter = {}, options = {}) =>
      (await call('POST /requests/wait', { body: { ...filter, ...options } })).entries,
    clear: () => call('DELETE /requests'),
  };
}
