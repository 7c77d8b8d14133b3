import * as z from 'zod';
import { type PlanName, plans } from '../../generated/service.ts';
import { Behaviour } from '../behaviour/behaviour.ts';
import { type BehaviourValues, SWITCH_NAMES } from '../behaviour/switches.ts';
import { type DrivenClock, LATEST_MS } from '../clock/clock.ts';
import { type FaultRecord, faultUnion } from '../faults/fault-kinds.ts';
import { MockServerError, show } from '../mock-server-error.ts';
import { type Random, randomFrom } from '../service/random.ts';
import { rateWindows } from '../service/rate-windows.ts';
import type { AccountRecord, KeyRecord, MailRecord, ServiceContext, ServiceState } from '../service/service-state.ts';
import { type SavedStub, type StubRecord, savedStub } from '../stubs/stub-schemas.ts';

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

export function takeSnapshot({ state, behaviour, clock }: ServiceContext & { readonly clock: DrivenClock }): Snapshot {
  return {
    version: 1,
    now: clock.now(),
    frozen: clock.isFrozen,
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

/** The snapshot with `own` in place of its only key; `undefined` if it has several, or one with another id. */
export function withOwnKey(snapshot: Snapshot, random: Random, own: KeyRecord): Snapshot | undefined {
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

export const planName = z.enum(Object.keys(plans) as [PlanName, ...PlanName[]]).describe('Name of the plan.');

/**
 * A copy of a snapshot, with the default of each switch that it lacks. Throws `MockServerError` with code `invalid_snapshot`
 * for a damaged one, because it would cause errors later, and for switches that a mock with `behaviour` does not accept.
 */
export function checkedSnapshot(snapshot: unknown, behaviour = new Behaviour({}, { unsafe: true })): Snapshot {
  const { version } = (snapshot ?? {}) as { readonly version?: unknown };
  if (version !== 1) {
    throw invalid(
      `The snapshot has version ${show(version)}; expected version 1, as mock.snapshot() returns it.`,
      'version',
    );
  }
  const { data, error } = snapshotShape().safeParse(snapshot);
  if (error !== undefined) throw damaged(error);
  checkIds(data);
  return { ...data, behaviour: checkedSwitches(data.behaviour, behaviour) };
}

/** Ids and keys are unique. A counter below the number of an id would create a second record with that id. */
function checkIds({ accounts, keys, mails, ...last }: Snapshot): void {
  checkUnique(
    'keys.hash',
    keys.map(({ hash }) => hash),
  );
  for (const [counter, records] of [
    ['lastAccount', accounts],
    ['lastKey', keys],
    ['lastMail', mails],
  ] as const) {
    checkUnique(
      `${counter.slice(4).toLowerCase()}s.id`,
      records.map(({ id }) => id),
    );
    const later = records.find(({ id }) => Number(/_(\d+)$/.exec(id)?.[1] ?? 0) > last[counter]);
    if (later === undefined) continue;
    throw invalid(`snapshot.${counter} is ${last[counter]}; expected at least the number of ${later.id}.`, counter);
  }
}

function checkUnique(field: string, values: readonly string[]): void {
  const seen = new Set<string>();
  const twice = values.find((value) => seen.has(value) || !seen.add(value));
  if (twice !== undefined) throw invalid(`snapshot.${field} has ${show(twice)} twice; expected it once.`, field);
}

function damaged({ issues: [issue] }: z.ZodError): MockServerError {
  const names = issue?.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : (issue?.path ?? []);
  const field = names.map(String).join('.');
  return invalid(`snapshot.${field}: ${issue?.message}.`, field);
}

function checkedSwitches(values: Snapshot['behaviour'], behaviour: Behaviour): Snapshot['behaviour'] {
  try {
    return behaviour.checkedValues(values);
  } catch (error) {
    if (!(error instanceof MockServerError)) throw error;
    throw invalid(`snapshot.${error.message}`, error.field);
  }
}

function invalid(message: string, field: string | undefined): MockServerError {
  return new MockServerError(message, { code: 'invalid_snapshot', field });
}

/** A complete snapshot as JSON. Created on first use, because most processes restore none. */
export function snapshotShape(): z.ZodType<Snapshot, Snapshot> {
  shape ??= createShape();
  return shape;
}

let shape: z.ZodType<Snapshot, Snapshot> | undefined;

function createShape(): z.ZodType<Snapshot, Snapshot> {
  const { fault, ...service } = { ...serviceShapes(), ...responseShapes() };
  const snapshot = z.strictObject({
    version: z.literal(1),
    now: z.number().min(0).max(LATEST_MS),
    frozen: z.boolean(),
    behaviour: z
      .partialRecord(z.enum(SWITCH_NAMES), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .describe('The value of each switch. A switch that is absent has its default.'),
    seed: WHOLE,
    random: z.array(WHOLE).length(4),
    lastAccount: COUNT,
    lastKey: COUNT,
    accounts: z.array(service.account),
    keys: z.array(service.key),
    mails: z.array(service.mail),
    lastMail: COUNT,
    faults: z.array(fault),
    lastFault: COUNT,
    lastSpace: COUNT,
    stubs: z.array(savedStub).default([]),
    lastStub: COUNT.default(0),
  });
  return snapshot as unknown as z.ZodType<Snapshot, Snapshot>;
}

const WHOLE = z.number().int();
const COUNT = WHOLE.min(0);

function serviceShapes() {
  const text = z.string();
  const window = z.array(z.number()).nullable();
  return {
    account: z.strictObject({
      id: text,
      email: text,
      createdAt: z.number(),
      plan: planName,
      isConfirmed: z.boolean(),
    }),
    key: z.strictObject({
      id: text,
      accountId: text,
      hash: text.regex(/^[0-9a-f]{64}$/),
      prefix: text,
      lastFour: text,
      createdAt: z.number(),
      revokedAt: z.number().nullable(),
      usedFrom: z.number().nullable(),
      used: COUNT,
      window,
      quotaEndpointWindow: window,
      retryAt: z.number(),
    }),
    // Snapshots of earlier versions also have the token of a link.
    mail: z.object({ id: text, accountId: text, to: text, sentAt: z.number() }),
  };
}

function responseShapes() {
  return {
    fault: z.strictObject({
      settings: faultUnion().refine(({ id, strikes }) => id !== undefined && strikes !== undefined),
      addedAt: z.number(),
      matched: COUNT,
      struck: COUNT,
      matchedByKey: z.record(z.string(), COUNT),
    }),
  };
}
