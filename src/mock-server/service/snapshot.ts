import type { BehaviourValues } from '../behaviour/switches.ts';
import type { FaultRecord } from '../faults/fault-kinds.ts';
import { MockServerError, show } from '../mock-server-error.ts';
import type { SavedStub, StubRecord } from '../stubs/stub-schemas.ts';
import { randomFrom } from './random.ts';
import { rateWindows } from './rate-windows.ts';
import type { AccountRecord, KeyRecord, MailRecord, ServiceContext, ServiceState } from './service-state.ts';

/** The state of a mock as plain JSON: accounts, SHA-256 of keys, usage, switches, faults, stubs, random numbers and time. */
export interface Snapshot {
  /** Version of the format. */
  readonly version: 1;
  /** Time of the mock's clock, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Whether the clock is frozen. */
  readonly frozen: boolean;
  /** Value of each switch. In a snapshot of an earlier version of this package, a later switch is absent. */
  readonly behaviour: BehaviourValues;
  /** The option `seed`. */
  readonly seed: number;
  /** State of the random number generator. */
  readonly random: readonly number[];
  /** Number of the newest account. */
  readonly lastAccount: number;
  /** Number of the newest key. */
  readonly lastKey: number;
  /** The accounts. */
  readonly accounts: readonly SavedAccount[];
  /** The keys, without their secrets, and their usage. */
  readonly keys: readonly SavedKey[];
  /** The confirmation e-mails. */
  readonly mails: readonly MailRecord[];
  /** Number of the newest e-mail. */
  readonly lastMail: number;
  /** The faults and the requests that they struck. */
  readonly faults: readonly SavedFault[];
  /** Number of the newest fault. */
  readonly lastFault: number;
  /** Number of the newest space. */
  readonly lastSpace: number;
  /** The stubs, except those with a function. Absent in snapshots of version 0.1 of this package. */
  readonly stubs?: readonly SavedStub[] | undefined;
  /** Number of the newest stub. */
  readonly lastStub?: number | undefined;
}

/** The object whose state a snapshot contains. */
export interface SnapshotOwner {
  snapshot(): Snapshot;
  restore(snapshot: Snapshot): void;
}

/** The key of a space, in the state of the space. */
interface OwnKey {
  readonly keyId: string;
  readonly state: ServiceState;
}

interface SavedFault extends Omit<FaultRecord, 'matchedByKey'> {
  readonly matchedByKey: Readonly<Record<string, number>>;
}

type SavedAccount = Omit<AccountRecord, 'keys' | 'activeKeys'>;

interface SavedKey extends Omit<KeyRecord, 'account' | 'revokedAt' | 'usedFrom' | 'window' | 'quotaEndpointWindow'> {
  readonly accountId: string;
  readonly revokedAt: number | null;
  readonly usedFrom: number | null;
  readonly window: readonly number[] | null;
  readonly quotaEndpointWindow: readonly number[] | null;
}

export function takeSnapshot({ state, behaviour, now }: ServiceContext, frozen: boolean): Snapshot {
  return {
    version: 1,
    now: now(),
    frozen,
    behaviour: behaviour.values,
    seed: state.seed,
    random: state.random.save(),
    lastAccount: state.lastAccount,
    lastKey: state.lastKey,
    accounts: Array.from(state.accounts.values(), ({ keys: _, activeKeys: __, ...account }) => account),
    keys: Array.from(state.keys.values(), saveKey),
    mails: structuredClone(state.mails),
    lastMail: state.lastMail,
    faults: state.faults.map((fault) =>
      structuredClone({ ...fault, matchedByKey: Object.fromEntries(fault.matchedByKey) }),
    ),
    lastFault: state.lastFault,
    lastSpace: state.lastSpace,
    stubs: state.stubs.filter(isSaved).map((stub) => structuredClone(stub)),
    lastStub: state.lastStub,
  };
}

/** A new state that equals the one the snapshot was taken of. The snapshot was checked. */
export function restoredState(snapshot: Snapshot): ServiceState {
  const accounts = new Map(
    snapshot.accounts.map((account) => [account.id, { ...account, keys: [], activeKeys: 0 } as AccountRecord]),
  );
  const { seed, lastAccount, lastKey, lastMail, lastFault, lastSpace, stubs = [], lastStub = 0 } = snapshot;
  const random = randomFrom(snapshot.random);
  const mails = structuredClone(snapshot.mails) as MailRecord[];
  const nothing = { keys: new Map(), keysByHash: new Map() };
  const faults = snapshot.faults.map((fault) => ({
    ...fault,
    matchedByKey: new Map(Object.entries(fault.matchedByKey)),
  }));
  const counters = { lastAccount, lastKey, lastMail, lastFault, lastSpace, lastStub };
  const own = { stubs: structuredClone(stubs) as StubRecord[], mails, faults };
  const state: ServiceState = { accounts, ...nothing, seed, random, ...own, ...counters };
  for (const saved of snapshot.keys) addKey(state, saved, snapshot.behaviour);
  return state;
}

/**
 * The snapshot for a space, which keeps its key. If the snapshot has another key, the key of the space gets its plan and
 * usage. Random numbers continue, so that keys created later in two spaces differ.
 */
export function snapshotForSpace(snapshot: Snapshot, { keyId, state }: OwnKey): Snapshot {
  const own = state.keys.get(keyId);
  if (own === undefined || snapshot.keys.some(({ hash }) => hash === own.hash)) return snapshot;
  const adopted = withKey(snapshot, state, own);
  if (adopted !== undefined) return adopted;
  const ids = snapshot.keys.map(({ id }) => id).join(', ') || 'no key';
  throw new MockServerError(
    `The snapshot has ${ids}, and not the key of this space; expected only ${own.id} of another space or of a mock. Restore it in the space or mock that it was taken of.`,
    { code: 'invalid_snapshot' },
  );
}

/**
 * The snapshot of the open space `space` for its mock, with the key of the mock. A key cannot belong to both.
 */
export function withKeyOfMock(snapshot: Snapshot, space: string, state: ServiceState): Snapshot {
  const [own, ...others] = state.keys.values();
  const adopted = own === undefined || others.length > 0 ? undefined : withKey(snapshot, state, own);
  if (adopted !== undefined) return adopted;
  throw new MockServerError(
    `The snapshot has a key of the open space ${space}. The mock can restore it only if both have one key, with the same id and account; close the space, or restore the snapshot in a space.`,
    { code: 'invalid_snapshot' },
  );
}

/** The snapshot with `own` in place of its only key; `undefined` if it has several, or one with another id. */
function withKey(snapshot: Snapshot, { random }: ServiceState, own: KeyRecord): Snapshot | undefined {
  const [key, ...others] = snapshot.keys;
  if (key?.id !== own.id || key.accountId !== own.account.id || others.length > 0) return undefined;
  const { hash, prefix, lastFour } = own;
  return { ...snapshot, random: random.save(), keys: [{ ...key, hash, prefix, lastFour }] };
}

function isSaved(stub: StubRecord): stub is SavedStub {
  return stub.source.kind !== 'function';
}

function saveKey({ account, window, quotaEndpointWindow, ...key }: KeyRecord): SavedKey {
  return {
    ...key,
    accountId: account.id,
    revokedAt: key.revokedAt ?? null,
    usedFrom: key.usedFrom ?? null,
    window: window?.save() ?? null,
    quotaEndpointWindow: quotaEndpointWindow?.save() ?? null,
  };
}

function addKey(state: ServiceState, { accountId, ...saved }: SavedKey, { rateWindow }: BehaviourValues): void {
  const account = state.accounts.get(accountId);
  if (account === undefined) {
    throw new MockServerError(`The snapshot has no account ${show(accountId)} for ${saved.id}.`, {
      code: 'invalid_snapshot',
    });
  }
  const restored = (window: readonly number[] | null) =>
    window === null ? undefined : new rateWindows[rateWindow](window);
  const key: KeyRecord = {
    ...saved,
    account,
    revokedAt: saved.revokedAt ?? undefined,
    usedFrom: saved.usedFrom ?? undefined,
    window: restored(saved.window),
    quotaEndpointWindow: restored(saved.quotaEndpointWindow),
  };
  account.keys.push(key);
  if (key.revokedAt === undefined) account.activeKeys += 1;
  state.keys.set(key.id, key);
  state.keysByHash.set(key.hash, key);
}
