import { hash } from 'node:crypto';
import { statusAndCode } from '../behaviour/switch.ts';
import { invalidOption, MockServerError, show } from '../mock-server-error.ts';
import { findAccount, maxActiveKeys, revoke } from './accounts.ts';
import { quotaUse } from './quota.ts';
import type { AccountRecord, KeyRecord, ServiceContext, ServiceState } from './service-state.ts';

/** A key just made. `key` is shown here and nowhere else: the mock keeps its SHA-256 alone. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
  readonly accountId: string;
}

/** What the dashboard still shows of a key. */
export interface KeySummary {
  readonly id: string;
  readonly accountId: string;
  /** Beginning and end of the key, `fx_live_…9c2d`. */
  readonly masked: string;
  readonly state: 'active' | 'revoked';
  readonly createdAt: Date;
  readonly revokedAt: Date | undefined;
  /** Requests counted in the quota period that is running. */
  readonly monthlyUsed: number;
}

export interface Keys {
  /** Throws before the e-mail address is confirmed, and above the plan's cap of active keys. */
  create(options: { readonly accountId: string }): CreatedKey;
  /** The key's next request fails. Revoking it again changes nothing. */
  revoke(keyId: string): KeySummary;
  get(keyId: string): KeySummary;
  list(options?: { readonly accountId?: string }): readonly KeySummary[];
  /** Sets the requests counted so far in the running quota period: the edge of a quota without 999 calls. */
  setUsage(keyId: string, usage: { readonly month: number }): KeySummary;
}

export function createKeys(context: ServiceContext): Keys {
  const { state, now } = context;
  return {
    create({ accountId }) {
      const account = findAccount(state, accountId);
      checkRoom(context, account);
      return issue(context, account);
    },
    revoke(keyId) {
      const key = findKey(state, keyId);
      revoke(key, now());
      return view(context, key);
    },
    get: (keyId) => view(context, findKey(state, keyId)),
    list({ accountId } = {}) {
      const keys = accountId === undefined ? state.keys.values() : findAccount(state, accountId).keys;
      return Array.from(keys, (key) => view(context, key));
    },
    setUsage(keyId, { month }) {
      const key = findKey(state, keyId);
      if (!Number.isSafeInteger(month) || month < 0) throw invalidOption('month', month, 'a whole number from 0');
      key.usedFrom = quotaUse(key, now(), context.behaviour).startedAt;
      key.used = month;
      return view(context, key);
    },
  };
}

/** SHA-256 of a key, in hexadecimal: all that is kept of it. */
export function hashOf(key: string): string {
  if (key !== inHand.key) inHand = { key, hash: hash('sha256', key, 'hex') };
  return inHand.hash;
}

/** Forgets the key of the request that was answered: from then on only its hash is in memory. */
export function forgetKeyInHand(): void {
  inHand = NO_KEY;
}

const NO_KEY = { key: '', hash: hash('sha256', '', 'hex') };
// Finding the space of a request and authenticating it ask for the same hash.
let inHand = NO_KEY;

function checkRoom({ behaviour }: ServiceContext, account: AccountRecord): void {
  if (!account.isConfirmed) {
    throw new MockServerError(
      `The e-mail address of ${account.id} is not confirmed; mock.accounts.confirm('${account.id}') confirms it.`,
      statusAndCode(behaviour.use('unconfirmedEmail')),
    );
  }
  const cap = maxActiveKeys(account, behaviour);
  if (cap === null || account.activeKeys < cap) return;
  throw new MockServerError(
    `${account.id} has ${account.activeKeys} active keys and the ${account.plan} plan allows ${cap}; revoke one first.`,
    statusAndCode(behaviour.use('keyLimitReached')),
  );
}

function issue({ state, behaviour, now }: ServiceContext, account: AccountRecord): CreatedKey {
  const prefix = behaviour.use('keyPrefix');
  const digits = Array.from({ length: 6 }, () => state.random.uint32().toString(16).padStart(8, '0')).join('');
  state.lastKey += 1;
  const record: KeyRecord = {
    id: `key_${state.lastKey}`,
    account,
    hash: hashOf(prefix + digits),
    prefix,
    // A copy: a slice would keep the whole secret in memory behind it.
    lastFour: Buffer.from(digits.slice(-4)).toString('latin1'),
    createdAt: now(),
    revokedAt: undefined,
    usedFrom: undefined,
    used: 0,
    window: undefined,
    quotaEndpointWindow: undefined,
    retryAt: 0,
  };
  // A list made with its first element takes a tenth of the memory of one that is pushed to, and most have just one.
  if (account.keys.length === 0) account.keys = [record];
  else account.keys.push(record);
  account.activeKeys += 1;
  state.keys.set(record.id, record);
  state.keysByHash.set(record.hash, record);
  return { id: record.id, key: prefix + digits, accountId: account.id };
}

function findKey(state: ServiceState, keyId: string): KeyRecord {
  const key = state.keys.get(keyId);
  if (key !== undefined) return key;
  throw new MockServerError(
    `There is no key ${show(keyId)}; keys have ids such as key_1, given by mock.keys.create().`,
    {
      code: 'not_found',
      status: 404,
    },
  );
}

function view({ behaviour, now }: ServiceContext, key: KeyRecord): KeySummary {
  const { id, account, prefix, lastFour, createdAt, revokedAt } = key;
  return {
    id,
    accountId: account.id,
    masked: `${prefix}…${lastFour}`,
    state: revokedAt === undefined ? 'active' : 'revoked',
    createdAt: new Date(createdAt),
    revokedAt: revokedAt === undefined ? undefined : new Date(revokedAt),
    monthlyUsed: quotaUse(key, now(), behaviour).used,
  };
}
