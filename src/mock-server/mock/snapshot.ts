import * as z from 'zod';
import type { Behaviour } from '../behaviour/behaviour.ts';
import { type BehaviourValues, SWITCH_NAMES, switches } from '../behaviour/switches.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { checkedInput, eachOf, expected, type Immutable, wholeFrom } from '../input/checked-input.ts';
import { fieldError, invalidOption, MockServerError, show } from '../input/mock-server-error.ts';
import { restoredRules, savedRuleOf } from '../rules/mock-rules.ts';
import { type RuleRecord, type RuleState, type SavedRule, savedRule } from '../rules/rule-schema.ts';
import { randomFrom } from '../service/random.ts';
import { rateWindows } from '../service/rate-windows.ts';
import {
  type AccountRecord,
  counters,
  type KeyRecord,
  renewKeys,
  type ServiceState,
  savedAccount,
  savedKey,
} from '../service/service-state.ts';
import type { MockState } from './mock-state.ts';

const WHOLE = z.int();

export const snapshotSchema = z.strictObject({
  /** Version of the format. */
  version: z.literal(1),
  /** Time of the mock's clock, in milliseconds since the Unix epoch. */
  now: expected('milliseconds since the Unix epoch', z.number().min(0).max(LATEST_MS)),
  /** Whether the clock is frozen. */
  frozen: z.boolean(),
  behaviour: z
    .strictObject(Object.fromEntries(SWITCH_NAMES.map((name) => [name, switches[name].schema.optional()])))
    .describe('The value of each switch. A switch that is absent has its default.'),
  /** The option `seed`. */
  seed: WHOLE,
  /** State of the random number generator. */
  random: expected('four whole numbers', z.array(WHOLE).length(4)),
  ...counters.shape,
  /** The accounts. */
  accounts: z.array(savedAccount),
  /** The keys, without their secrets, and their usage. */
  keys: z.array(savedKey),
  /** How many rules were added so far, also those with an id of their own. */
  lastRule: wholeFrom(0),
  rules: z.array(savedRule),
});

/** The state of a mock as plain JSON: accounts, SHA-256 of keys, usage, switches, rules, random numbers and time. */
export interface Snapshot extends Immutable<Omit<z.input<typeof snapshotSchema>, 'behaviour' | 'rules'>> {
  /**
   * Value of each switch. A switch that is absent has its default. The windows of the keys are of the kind `rateWindow`; to
   * change it, use `mock.behaviour.set()` after `restore()`.
   */
  readonly behaviour: BehaviourValues;
  /** The rules and how often they were used, without functions. */
  readonly rules: readonly SavedRule[];
}

type SavedKey = Snapshot['keys'][number];

/** The state of a mock, without functions. */
export function takeSnapshot({ state, behaviour, clock }: MockState): Snapshot {
  return {
    version: 1,
    now: clock.now(),
    frozen: clock.isFrozen,
    behaviour: { ...behaviour.values },
    seed: state.seed,
    random: state.random.save(),
    ...counters.parse(state),
    accounts: Array.from(state.accounts.values(), saveAccount),
    keys: Array.from(state.keys.values(), saveKey),
    lastRule: state.lastRule,
    rules: state.rules.map(savedRuleOf),
  };
}

/** A new state that equals the one the snapshot was taken of. The snapshot was checked. */
function restoredState(snapshot: Snapshot, current: readonly RuleRecord[]): RuleState {
  const { seed, random, accounts, keys, behaviour, lastRule } = snapshot;
  const rules = restoredRules(snapshot.rules, current);
  const state: RuleState = {
    accounts: new Map(accounts.map((account) => [account.id, { ...account, keys: [], activeKeys: 0 }])),
    keys: new Map(),
    keysByHash: new Map(),
    seed,
    random: randomFrom(random),
    rules,
    lastRule,
    ruleIds: new Set(rules.map(({ id }) => id)),
    ...counters.parse(snapshot),
  };
  for (const saved of keys) addKey(state, saved, behaviour);
  return state;
}

/** Restores a snapshot that was checked. If it throws, nothing has changed. */
export function restoreSnapshot(mock: MockState, snapshot: Snapshot): void {
  const { state, behaviour, journal, clock, delays } = mock;
  checkOwner(mock, snapshot);
  const { rules } = state;
  renewKeys(state);
  Object.assign(state, restoredState(snapshot, rules));
  for (const { id } of rules) delays.endHangsOf(id);
  behaviour.restore(snapshot.behaviour);
  // Frozen first, because a running clock would pass `now` before it is frozen.
  if (snapshot.frozen) clock.freeze();
  clock.set(snapshot.now);
  if (!snapshot.frozen) clock.resume();
  journal.clear();
}

/** Throws for a key that would belong to two open spaces, or to a space and its mock, and for a space without its own key. */
function checkOwner({ parent, spaces, state }: MockState, snapshot: Snapshot): void {
  const hasKeyOf = ({ keysByHash }: ServiceState) => snapshot.keys.some(({ hash }) => keysByHash.has(hash));
  if (parent === undefined) {
    const space = Array.from(spaces.values()).find((open) => hasKeyOf(open.state));
    if (space === undefined) return;
    const text = `The snapshot has a key of the open space ${space.name}; close the space, or restore the snapshot in a space.`;
    throw invalid(text, 'keys');
  }
  const [own] = state.keys.values();
  if (own === undefined || snapshot.keys.some(({ hash }) => hash === own.hash)) return;
  const ids = snapshot.keys.map(({ id }) => id).join(', ') || 'no key';
  const text = `The snapshot has ${ids}, and not the key of this space. Restore it in the space or mock that it was taken of; to prepare spaces alike, use setUp() in each.`;
  throw invalid(text, 'keys');
}

/** By name: `...` takes several times as long, and a mock can have many. */
function saveAccount({ id, email, createdAt, plan, isConfirmed }: AccountRecord): Snapshot['accounts'][number] {
  return { id, email, createdAt, plan, isConfirmed };
}

function saveKey(key: KeyRecord): SavedKey {
  const { id, hash, prefix, lastFour, createdAt, revokedAt, usedFrom, used } = key;
  const limits = key.limits && { ...key.limits };
  const windows = { window: key.window?.save(), quotaEndpointWindow: key.quotaEndpointWindow?.save() };
  const retry = { retryAt: key.retryAt, quotaEndpointRetryAt: key.quotaEndpointRetryAt };
  const accountId = key.account.id;
  return { id, accountId, hash, prefix, lastFour, createdAt, revokedAt, usedFrom, used, limits, ...retry, ...windows };
}

function addKey(state: ServiceState, { accountId, ...saved }: SavedKey, { rateWindow }: BehaviourValues): void {
  const account = state.accounts.get(accountId);
  if (account === undefined) return; // checked before
  const restored = (window: readonly number[] | undefined) => window && new rateWindows[rateWindow](window);
  const key: KeyRecord = {
    ...saved,
    account,
    window: restored(saved.window),
    quotaEndpointWindow: restored(saved.quotaEndpointWindow),
    wasUsed: false,
  };
  account.keys.push(key);
  if (key.revokedAt === undefined) account.activeKeys += 1;
  state.keys.set(key.id, key);
  state.keysByHash.set(key.hash, key);
}

/**
 * A copy of a snapshot, with the default of each switch that it lacks. Throws `MockServerError` with code `invalid_snapshot`
 * for a damaged one, because it would cause errors later, and for switches that a mock with `behaviour` does not accept.
 */
export function checkedSnapshot(snapshot: unknown, behaviour: Behaviour): Snapshot {
  try {
    return checkedParts(snapshot, behaviour);
  } catch (error) {
    if (!(error instanceof MockServerError)) throw error;
    throw invalid(`snapshot.${error.message}`, error.field);
  }
}

function checkedParts(snapshot: unknown, behaviour: Behaviour): Snapshot {
  const { version } = Object(snapshot);
  if (version !== 1) throw invalidOption('version', version, 'version 1, as mock.snapshot() returns it');
  const data = checkedInput(outerSchema, snapshot, { what: 'a field of a snapshot' });
  const partOf = (schema: z.ZodType) => (part: unknown) => checkedInput(schema, part, { what: 'a field' });
  const checked = {
    ...data,
    accounts: eachOf('accounts', data.accounts, partOf(savedAccount)),
    keys: eachOf('keys', data.keys, partOf(savedKey)),
    rules: eachOf('rules', data.rules, partOf(savedRule)),
    behaviour: behaviour.checkedValues(data.behaviour),
  } as Snapshot; // each part has been checked
  checkIds(checked);
  return checked;
}

/** The lists are checked element by element, up to the first wrong one. The errors of a million would take all memory. */
const list = z.array(z.unknown());
const outerSchema = snapshotSchema.extend({ accounts: list, keys: list, rules: list });

/** Ids and keys are unique, and keys have an account. A counter below the number of an id would create it a second time. */
function checkIds({ accounts, keys, ...last }: Snapshot): void {
  const accountIds = new Set(accounts.map(({ id }) => id));
  const orphan = keys.findIndex(({ accountId }) => !accountIds.has(accountId));
  if (orphan !== -1) {
    throw invalidOption(`keys[${orphan}].accountId`, keys[orphan]?.accountId, 'the id of an account of the snapshot');
  }
  checkUnique(
    'keys.hash',
    keys.map(({ hash }) => hash),
  );
  for (const [counter, name, records] of [
    ['lastAccount', 'accounts', accounts],
    ['lastKey', 'keys', keys],
  ] as const) {
    const ids = records.map(({ id }) => id);
    checkUnique(`${name}.id`, ids);
    const later = ids.find((id) => Number(/_(\d+)$/.exec(id)?.[1] ?? 0) > last[counter]);
    if (later !== undefined) throw invalidOption(counter, last[counter], `at least the number of ${later}`);
  }
}

function checkUnique(field: string, values: readonly string[]): void {
  const seen = new Set<string>();
  const twice = values.find((value) => seen.has(value) || !seen.add(value));
  if (twice !== undefined) throw fieldError(field, `has ${show(twice)} twice; expected it once.`);
}

function invalid(message: string, field: string | undefined): MockServerError {
  return new MockServerError(message, { code: 'invalid_snapshot', field });
}
