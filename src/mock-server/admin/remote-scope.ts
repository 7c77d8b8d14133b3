import type { SwitchDescription } from '../behaviour/behaviour.ts';
import type { BehaviourOptions } from '../behaviour/behaviour-options.ts';
import type { PresetName } from '../behaviour/switch.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';
import type { MockClock } from '../clock/clock.ts';
import type { Fault } from '../faults/fault-kinds.ts';
import type { MockFaults } from '../faults/mock-faults.ts';
import type { Audit } from '../journal/audit.ts';
import { expectCount, type RequestExpectation } from '../journal/expect-requests.ts';
import type { JournalEntry } from '../journal/journal.ts';
import type { MockJournal } from '../journal/mock-journal.ts';
import type { RequestFilter } from '../journal/request-filter.ts';
import type { MockScope } from '../mock-scope.ts';
import type { Account, Accounts } from '../service/accounts.ts';
import type { CreatedKey, KeySummary, Keys } from '../service/keys.ts';
import type { Mail, Outbox } from '../service/outbox.ts';
import type { Snapshot } from '../service/snapshot.ts';
import type { Snapshots } from '../state/snapshots.ts';
import type { AskAdmin } from './admin-client.ts';

/** The same methods, answered by another process. */
export type Remote<Local> = {
  readonly [Name in keyof Local]: Local[Name] extends (...parameters: infer Parameters) => infer Result
    ? (...parameters: Parameters) => Promise<Awaited<Result>>
    : never;
};

/** What is driven of a mock, or of a space of it, as if it were here. */
export interface RemoteScope extends Remote<Pick<MockScope, 'createKey' | 'audit' | 'snapshot' | 'restore' | 'reset'>> {
  /** Where it answers, for the client's `baseUrl`. */
  readonly baseUrl: string;
  readonly accounts: Remote<Accounts>;
  readonly keys: Remote<Keys>;
  readonly outbox: Remote<Outbox>;
  readonly snapshots: Remote<Snapshots>;
  readonly faults: Remote<MockFaults>;
  readonly clock: Remote<Pick<MockClock, 'now' | 'advance' | 'advanceTo' | 'freeze' | 'resume'>>;
  readonly behaviour: {
    values(): Promise<BehaviourValues>;
    describe(): Promise<readonly SwitchDescription[]>;
    set(options: PresetName | BehaviourOptions): Promise<void>;
  };
  readonly journal: {
    /** Oldest first; the newest `limit` of them. Default: 1000, which is also the most. */
    list(filter?: RequestFilter & { readonly limit?: number | undefined }): Promise<readonly JournalEntry[]>;
    dropped(): Promise<number>;
  } & Remote<Pick<MockJournal, 'waitFor' | 'clear'>>;
  /** As `mock.expectRequests`; await what it gives. */
  expectRequests(filter?: RequestFilter): Remote<RequestExpectation>;
}

export function createRemoteScope(ask: AskAdmin, baseUrl: string): RemoteScope {
  return {
    baseUrl,
    accounts: remoteAccounts(ask),
    keys: remoteKeys(ask),
    outbox: {
      list: async (query = {}) => ((await ask('GET', '/outbox', { query: { ...query } })) as Mail[]).map(toMail),
      clear: async () => void (await ask('DELETE', '/outbox')),
    },
    snapshots: remoteSnapshots(ask),
    faults: remoteFaults(ask),
    clock: remoteClock(ask),
    behaviour: {
      values: async () => (await ask('GET', '/behaviour')) as BehaviourValues,
      describe: async () => (await ask('GET', '/behaviour/describe')) as SwitchDescription[],
      set: async (options) => {
        await ask('PATCH', '/behaviour', { body: typeof options === 'string' ? { preset: options } : options });
      },
    },
    journal: remoteJournal(ask),
    expectRequests: (filter = {}) => ({ toHaveCount: (count) => expectRemote(ask, filter, count) }),
    audit: async () => (await ask('GET', '/audit')) as Audit,
    createKey: async (options = {}) => (await ask('POST', '/keys', { body: options })) as CreatedKey,
    snapshot: async () => (await ask('GET', '/state')) as Snapshot,
    restore: async (snapshot) => void (await ask('PUT', '/state', { body: snapshot })),
    reset: async () => void (await ask('POST', '/reset')),
  };
}

function remoteSnapshots(ask: AskAdmin): Remote<Snapshots> {
  const id = (kept: unknown) => (kept as { readonly id: string }).id;
  return {
    save: async (name) => id(await ask('POST', '/snapshots', { body: { id: name } })),
    restore: async (name) => void (await ask('POST', `/snapshots/${encodeURIComponent(name)}/restore`)),
    list: async () => ((await ask('GET', '/snapshots')) as unknown[]).map(id),
    delete: async (name) => void (await ask('DELETE', `/snapshots/${encodeURIComponent(name)}`)),
  };
}

function remoteAccounts(ask: AskAdmin): Remote<Accounts> {
  const one = async (method: string, path: string, body?: unknown) =>
    toAccount((await ask(method, path, body === undefined ? {} : { body })) as Account);
  return {
    create: (options = {}) => one('POST', '/accounts', options),
    confirm: (accountId) => one('POST', `/accounts/${encodeURIComponent(accountId)}/confirm`),
    get: (accountId) => one('GET', `/accounts/${encodeURIComponent(accountId)}`),
    setPlan: (accountId, plan) => one('PUT', `/accounts/${encodeURIComponent(accountId)}/plan`, { plan }),
    list: async () => ((await ask('GET', '/accounts')) as Account[]).map(toAccount),
  };
}

function remoteKeys(ask: AskAdmin): Remote<Keys> {
  const path = (keyId: string) => `/keys/${encodeURIComponent(keyId)}`;
  return {
    create: async ({ accountId }) =>
      (await ask('POST', `/accounts/${encodeURIComponent(accountId)}/keys`)) as CreatedKey,
    revoke: async (keyId) => toKey((await ask('DELETE', path(keyId))) as KeySummary),
    get: async (keyId) => toKey((await ask('GET', path(keyId))) as KeySummary),
    list: async (query = {}) => ((await ask('GET', '/keys', { query })) as KeySummary[]).map(toKey),
    setUsage: async (keyId, usage) => toKey((await ask('PUT', `${path(keyId)}/usage`, { body: usage })) as KeySummary),
  };
}

function remoteFaults(ask: AskAdmin): Remote<MockFaults> {
  return {
    add: async (fault) => (await ask('POST', '/faults', { body: fault })) as Fault,
    list: async () => (await ask('GET', '/faults')) as Fault[],
    remove: async (id) => void (await ask('DELETE', `/faults/${encodeURIComponent(id)}`)),
    clear: async () => void (await ask('DELETE', '/faults')),
  };
}

function remoteClock(ask: AskAdmin): RemoteScope['clock'] {
  const now = (state: unknown) => (state as { readonly now: number }).now;
  const instant = (moment: Parameters<MockClock['advanceTo']>[0]) =>
    typeof moment === 'string' ? moment : new Date(moment).toISOString();
  return {
    now: async () => now(await ask('GET', '/clock')),
    advance: async (ms) => now(await ask('POST', '/clock', { body: { advanceMs: ms } })),
    advanceTo: async (moment) => now(await ask('POST', '/clock', { body: { advanceTo: instant(moment) } })),
    freeze: async () => void (await ask('POST', '/clock', { body: { frozen: true } })),
    resume: async () => void (await ask('POST', '/clock', { body: { frozen: false } })),
  };
}

interface RequestList {
  readonly entries: readonly JournalEntry[];
  readonly total: number;
  readonly dropped: number;
}

async function listRemote(ask: AskAdmin, query: RequestFilter & { readonly limit?: number | undefined }) {
  return (await ask('GET', '/requests', { query: { limit: 1000, ...query } })) as RequestList;
}

function remoteJournal(ask: AskAdmin): RemoteScope['journal'] {
  return {
    list: async (filter = {}) => (await listRemote(ask, filter)).entries,
    dropped: async () => (await listRemote(ask, { limit: 1 })).dropped,
    waitFor: async (filter = {}, options = {}) =>
      ((await ask('POST', '/requests/wait', { body: { ...filter, ...options } })) as RequestList).entries,
    clear: async () => void (await ask('DELETE', '/requests')),
  };
}

async function expectRemote(ask: AskAdmin, filter: RequestFilter, count: number): Promise<void> {
  const { entries: all } = await listRemote(ask, {});
  const { total, dropped } = await listRemote(ask, { ...filter, limit: 1 });
  expectCount({ filter, matching: total, all, dropped }, count);
}

/** JSON has no dates. */
function toAccount(account: Account): Account {
  return { ...account, createdAt: new Date(account.createdAt) };
}

function toKey({ createdAt, revokedAt, ...key }: KeySummary): KeySummary {
  const date = revokedAt === undefined ? undefined : new Date(revokedAt);
  return { ...key, createdAt: new Date(createdAt), revokedAt: date };
}

function toMail(mail: Mail): Mail {
  return { ...mail, sentAt: new Date(mail.sentAt), expiresAt: new Date(mail.expiresAt) };
}
