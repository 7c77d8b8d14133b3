import { hash } from 'node:crypto';
import * as z from 'zod';
import { statusAndCode } from '../behaviour/switch.ts';
import {
  atOnce,
  checkedInput,
  expected,
  plainObject,
  type Steps,
  strictObject,
  type ValueOf,
  wholeFrom,
} from '../input/checked-input.ts';
import { invalidOption, MockServerError, withId } from '../input/mock-server-error.ts';
import { addAccount, findAccount, maxActiveKeys, revoke } from './accounts.ts';
import { minuteUsage, monthUsage, quotaUse, type RateUse, rateUse } from './decide.ts';
import { type RateWindow, rateLimitOf, rateWindows } from './rate-windows.ts';
import {
  type AccountRecord,
  clearMinute,
  type KeyLimitOptions,
  type KeyRecord,
  keyLimitOptions,
  planName,
  type ServiceContext,
  type ServiceState,
} from './service-state.ts';

export const createdKey = plainObject({
  /** Id of the key, for example `key_1`. */
  id: z.string(),
  /** The full API key. Only this result contains it: the mock stores a SHA-256. */
  key: z.string().describe('The full API key. It is returned only here.'),
  /** Id of the account. */
  accountId: z.string(),
});

/** A key that was just created. */
export interface CreatedKey extends ValueOf<typeof createdKey> {}

const minuteUse = plainObject({
  ...minuteUsage.shape,
  /** Milliseconds until a request is accepted; 0 if one is accepted now. */
  waitMs: z.number().describe('Milliseconds until a request is accepted; 0 if one is accepted now.'),
});

/** The use of the per-minute limit. */
export interface MinuteUse extends RateUse, ValueOf<typeof minuteUse> {}

export const keySummary = plainObject({
  /** Id of the key, for example `key_1`. */
  id: z.string(),
  /** Id of the account. */
  accountId: z.string(),
  /** Prefix and last four digits of the key: `fx_live_…9c2d`. */
  masked: z.string().describe('Prefix and last four digits of the key.'),
  /** Whether the key can be used. A revoked key stays revoked. */
  state: z.enum(['active', 'revoked']),
  /** Time of creation, by the mock's clock, in milliseconds since the Unix epoch. */
  createdAt: z.number().describe('Milliseconds since the Unix epoch.'),
  /** Time of revocation; `undefined` for an active key. */
  revokedAt: z.number().optional().describe('Milliseconds since the Unix epoch; absent for an active key.'),
  /** Limits in place of those of the plan; `undefined` without. */
  limits: keyLimitOptions.optional(),
  /** Usage of the per-minute limit, without a separate window of the quota endpoint, and the wait until the next request. */
  minute: minuteUse,
  /** Usage of the monthly quota. */
  month: monthUsage,
});

/** A key without its secret, with its current usage. */
export interface KeySummary extends ValueOf<typeof keySummary> {}

/** Creates, revokes and inspects API keys. */
export interface Keys {
  /**
   * Creates a key for an account.
   * @throws MockServerError with code `not_found`; `email_not_confirmed`; `key_limit_reached`, if the plan allows no more keys.
   */
  create(options: { readonly accountId: string }): CreatedKey;
  /**
   * Revokes a key: its next request fails. Revoking it again has no effect.
   * @throws MockServerError with code `not_found`.
   */
  revoke(keyId: string): KeySummary;
  /**
   * Returns a key without its secret, with its current usage. Does not count as a request.
   * @throws MockServerError with code `not_found`.
   */
  get(keyId: string): KeySummary;
  /**
   * Returns all keys, or those of one account, oldest first; with `limit`, only the newest ones.
   * @throws MockServerError with code `not_found`, for an unknown account; `invalid_option`.
   */
  list(options?: KeyFilter): readonly KeySummary[];
  /**
   * Sets the number of requests counted in the current quota period, in the current minute, or in both.
   * @throws MockServerError with code `not_found`, or `invalid_option` for a number that is negative or above the
   * per-minute limit.
   * @example mock.keys.setUsage(keyId, { month: 999 }) // one request before the Free quota is exhausted
   */
  setUsage(keyId: string, usage: SetUsage): KeySummary;
}

export const keyFilter = strictObject({
  /**
   * Only keys of this account.
   * @default all accounts
   */
  accountId: z.string().optional().describe('Only keys of this account.'),
  /**
   * Maximum number of keys: the newest ones.
   * @default no maximum
   */
  limit: wholeFrom(1).optional().describe('Maximum number of keys: the newest ones.'),
});

/** What `mock.keys.list()` returns. */
export interface KeyFilter extends ValueOf<typeof keyFilter> {}

export const keyUsage = strictObject({
  /**
   * Requests counted in the current quota period. A number above the quota is possible after a change to a smaller plan.
   * @default unchanged
   */
  month: wholeFrom(0).optional().describe('Number of requests in the current quota period.'),
  /**
   * Requests counted toward the per-minute limit, as if all had been sent now. A separate window of the quota endpoint
   * becomes empty.
   * @default unchanged
   */
  minute: wholeFrom(0).optional().describe('Number of requests, at most the limit of the plan.'),
})
  .refine(({ month, minute }) => month !== undefined || minute !== undefined, { error: 'month, minute or both' })
  .meta({ minProperties: 1 });

/** What `mock.keys.setUsage()` sets. Set at least one of the two. */
export interface SetUsage extends ValueOf<typeof keyUsage> {}

/** The options of `mock.keys.create()`. */
const keyOwner = strictObject({ accountId: expected('the id of an account', z.string()) });

/** The options of `mock.createKey()`. */
export const newKey = strictObject({
  /**
   * Plan of the account.
   * @default 'free'
   */
  plan: planName.optional(),
  /**
   * Limits in place of those of the plan, for example small ones for tests in real time.
   * @default the limits of the plan
   * @example { requests: 2, windowMs: 1_000, monthly: 5 }
   */
  limits: keyLimitOptions.optional(),
});

/** Options of `mock.createKey()`. All are optional. */
export interface CreateKeyOptions extends ValueOf<typeof newKey> {}

export function createKeys(context: ServiceContext): Keys {
  const { state, now } = context;
  return {
    create(options) {
      const { accountId } = checkedInput(keyOwner, options, { what: 'an option of keys.create()' });
      const account = findAccount(state, accountId);
      checkKeyCap(context, account);
      return issue(context, account);
    },
    revoke(keyId) {
      const key = findKey(state, keyId);
      revoke(key, now());
      return view(context, key);
    },
    get: (keyId) => view(context, findKey(state, keyId)),
    list: (options) => atOnce(listKeysSteps(context, options)),
    setUsage(keyId, usage) {
      const key = findKey(state, keyId);
      const checked = checkedInput(keyUsage, usage, { what: 'an option of setUsage()' });
      checkMinute(checked, rateLimitOf(key));
      applyUsage(context, key, checked);
      return view(context, key);
    },
  };
}

/** Each key is a step, because a mock can have many. */
export function* listKeysSteps(context: ServiceContext, options: KeyFilter = {}): Steps<readonly KeySummary[]> {
  const { state } = context;
  const { accountId, limit = Number.POSITIVE_INFINITY } = checkedInput(keyFilter, options, {
    what: 'an option of keys.list()',
  });
  const keys = accountId === undefined ? Array.from(state.keys.values()) : findAccount(state, accountId).keys;
  const summaries: KeySummary[] = [];
  for (const key of keys.slice(-limit)) {
    summaries.push(view(context, key));
    yield;
  }
  return summaries;
}

/** Throws `MockServerError` with code `invalid_option` for a usage above the limit of the key. */
export function checkMinute({ minute = 0 }: SetUsage, { requests }: { readonly requests: number }): void {
  if (minute <= requests) return;
  throw invalidOption(
    'minute',
    minute,
    `a whole number from 0 to ${requests}, the limit of the key, because the service accepts no more`,
  );
}

/** Sets the usage of a key, which was checked. */
export function applyUsage(context: ServiceContext, key: KeyRecord, { month, minute }: SetUsage): void {
  if (month !== undefined) {
    // Without a request, no period of 30 days has begun.
    key.usedFrom = month === 0 ? undefined : quotaUse(key, context.now(), context.behaviour).startedAt;
    key.used = month;
  }
  if (minute === undefined) return;
  clearMinute(key);
  key.window = usedWindow(minute, key, context);
}

/** Creates an account with a confirmed e-mail address, and a key for it. */
export function createKeyWithAccount(
  context: ServiceContext,
  { plan = 'free', limits }: CreateKeyOptions = {},
): CreatedKey {
  return issue(context, addAccount(context, { plan, isConfirmed: true }), limits);
}

function usedWindow(used: number, key: KeyRecord, { behaviour, now }: ServiceContext): RateWindow {
  const window = new rateWindows[behaviour.values.rateWindow]();
  if (used > 0) window.count(rateLimitOf(key), now(), used);
  return window;
}

function checkKeyCap({ behaviour }: ServiceContext, account: AccountRecord): void {
  if (!account.isConfirmed) {
    throw new MockServerError(
      `The e-mail address of ${account.id} is not confirmed; confirm the account first.`,
      statusAndCode(behaviour.use('unconfirmedEmail')),
    );
  }
  const cap = maxActiveKeys(account, behaviour);
  if (cap === null || account.activeKeys < cap) return;
  throw new MockServerError(
    `${account.id} has ${account.activeKeys} active key${account.activeKeys === 1 ? '' : 's'} and the ${account.plan} plan allows ${cap}; revoke one first.`,
    statusAndCode(behaviour.use('keyLimitReached')),
  );
}

function issue(
  { state, behaviour, now }: ServiceContext,
  account: AccountRecord,
  limits?: KeyLimitOptions,
): CreatedKey {
  const prefix = behaviour.use('keyPrefix');
  const digits = Array.from({ length: 6 }, () => state.random.uint32().toString(16).padStart(8, '0')).join('');
  state.lastKey += 1;
  const record: KeyRecord = {
    id: `key_${state.lastKey}`,
    account,
    hash: hashOf(prefix + digits),
    prefix,
    // A copy, because a slice would retain the whole secret in memory.
    lastFour: Buffer.from(digits.slice(-4)).toString('latin1'),
    createdAt: now(),
    revokedAt: undefined,
    usedFrom: undefined,
    used: 0,
    window: undefined,
    quotaEndpointWindow: undefined,
    limits,
    retryAt: 0,
    quotaEndpointRetryAt: 0,
    wasUsed: false,
  };
  // A list created with its first element takes a tenth of the memory of one that grows, and most accounts have one key.
  if (account.keys.length === 0) account.keys = [record];
  else account.keys.push(record);
  account.activeKeys += 1;
  state.keys.set(record.id, record);
  state.keysByHash.set(record.hash, record);
  return { id: record.id, key: prefix + digits, accountId: account.id };
}

/** SHA-256 of a key, in hexadecimal. The mock stores nothing else of a key. */
export function hashOf(key: string): string {
  return hash('sha256', key, 'hex');
}

export function findKey(state: ServiceState, keyId: string): KeyRecord {
  return withId('key', keyId, state.keys);
}

function view({ behaviour, now }: ServiceContext, key: KeyRecord): KeySummary {
  const { id, account, prefix, lastFour, createdAt, revokedAt, limits } = key;
  return {
    id,
    accountId: account.id,
    masked: `${prefix}…${lastFour}`, // the mock does not store the rest
    state: revokedAt === undefined ? 'active' : 'revoked',
    createdAt,
    revokedAt,
    limits: limits && { ...limits },
    minute: useOfMinute(key, now()),
    month: quotaUse(key, now(), behaviour),
  };
}

/** Reads the usage without a request: nothing is charged, and no switch is recorded as used by the current request. */
function useOfMinute(key: KeyRecord, now: number): MinuteUse {
  const { window } = key;
  const limit = rateLimitOf(key);
  if (window === undefined) return { limit: limit.requests, used: 0, waitMs: 0, fullAt: now };
  return { ...rateUse(window, limit, now), waitMs: window.waitMs(limit, now) };
}
