import * as z from 'zod';
import { type PlanName, plans } from '../../generated/service.ts';
import type { Switches } from '../behaviour/behaviour.ts';
import { checkedInput, expected, isNoKey, plainObject, strictObject, type ValueOf } from '../input/checked-input.ts';
import { withId } from '../input/mock-server-error.ts';
import { rateLimitOf } from './rate-windows.ts';
import {
  type AccountRecord,
  clearMonth,
  type KeyRecord,
  planName,
  type ServiceContext,
  type ServiceState,
} from './service-state.ts';

export const account = plainObject({
  /** Id of the account, for example `account_1`. */
  id: z.string(),
  /** E-mail address. */
  email: z.string(),
  /** Plan, which determines the limits of all keys of the account. */
  plan: planName,
  /** Whether the e-mail address is confirmed. Only then can keys be created. */
  confirmed: z.boolean(),
  /** Time of creation, by the mock's clock, in milliseconds since the Unix epoch. */
  createdAt: z.number().describe('Milliseconds since the Unix epoch.'),
});

/** An account of the emulated service. */
export interface Account extends ValueOf<typeof account> {}

export const accountOptions = strictObject({
  /**
   * E-mail address of the account.
   * @default an invented address below `example.test`
   */
  email: expected(
    'an e-mail address',
    z
      .string()
      .regex(/^[^\s@]+@[^\s@]+$/)
      .refine(isNoKey, { error: 'an e-mail address without an API key' }),
  ).optional(),
  /**
   * Plan of the account.
   * @default 'free'
   */
  plan: planName.optional(),
});

/** Options of `mock.accounts.create()`. All are optional. */
export interface CreateAccountOptions extends ValueOf<typeof accountOptions> {}

/** Creates and changes accounts. */
export interface Accounts {
  /**
   * Creates an account whose e-mail address is not confirmed. No e-mail is sent.
   * @throws MockServerError with code `invalid_option`, for an unknown plan or an invalid address.
   * @example mock.accounts.create({ email: 'ada@example.test', plan: 'developer' })
   */
  create(options?: CreateAccountOptions): Account;
  /**
   * Confirms the e-mail address, as the owner of the account does.
   * @throws MockServerError with code `not_found`.
   */
  confirm(accountId: string): Account;
  /**
   * Returns an account.
   * @throws MockServerError with code `not_found`.
   */
  get(accountId: string): Account;
  /**
   * Moves an account and its keys to another plan.
   * @throws MockServerError with code `not_found`; `invalid_option`, for an unknown plan.
   */
  setPlan(accountId: string, plan: PlanName): Account;
  /** Returns all accounts, oldest first. */
  list(): readonly Account[];
}

export function createAccounts(context: ServiceContext): Accounts {
  const { state } = context;
  return {
    create(options = {}) {
      const { email, plan = 'free' } = checkedInput(accountOptions, options, {
        what: 'an option of accounts.create()',
      });
      return view(addAccount(context, { email, plan, isConfirmed: false }));
    },
    confirm(accountId) {
      const account = findAccount(state, accountId);
      account.isConfirmed = true;
      return view(account);
    },
    get: (accountId) => view(findAccount(state, accountId)),
    setPlan(accountId, plan) {
      checkedInput(newPlan, { plan }, { what: 'an argument of setPlan()' });
      const account = findAccount(state, accountId);
      applyPlanChange(context, account, plan);
      return view(account);
    },
    list: () => Array.from(state.accounts.values(), view),
  };
}

/** The plan of `mock.accounts.setPlan()`. */
export const newPlan = z.strictObject({ plan: planName });

/** Adds an account to the state. */
export function addAccount(
  { state, now }: ServiceContext,
  { email, plan, isConfirmed }: CreateAccountOptions & Pick<AccountRecord, 'plan' | 'isConfirmed'>,
): AccountRecord {
  state.lastAccount += 1;
  const account: AccountRecord = {
    id: `account_${state.lastAccount}`,
    email: email ?? `account-${state.lastAccount}@example.test`,
    createdAt: now(),
    plan,
    isConfirmed,
    keys: [],
    activeKeys: 0,
  };
  state.accounts.set(account.id, account);
  return account;
}

export function findAccount(state: ServiceState, accountId: string): AccountRecord {
  return withId('account', accountId, state.accounts);
}

function view({ id, email, plan, isConfirmed, createdAt }: AccountRecord): Account {
  return { id, email, plan, confirmed: isConfirmed, createdAt };
}

/** Moves an account to `plan`. The switches define the effect on usage and on keys above the new cap. */
function applyPlanChange({ behaviour, now }: ServiceContext, account: AccountRecord, plan: PlanName): void {
  if (account.plan === plan) return;
  for (const key of account.keys) {
    // A token bucket refills until now at the rate of the old plan.
    for (const window of [key.window, key.quotaEndpointWindow]) window?.used(rateLimitOf(key), now());
  }
  account.plan = plan;
  if (behaviour.use('planChange') === 'reset') {
    for (const key of account.keys) clearMonth(key);
  }
  if (behaviour.use('overCapKeys') !== 'revoke-newest') return;
  for (const key of keysAboveCap(account, behaviour)) revoke(key, now());
}

/** Maximum number of active keys of the account; `null` for no maximum. */
export function maxActiveKeys(account: AccountRecord, switches: Switches): number | null {
  return plans[account.plan].maxActiveKeys ?? switches.use('freeMaxActiveKeys');
}

/** Revokes a key. Revoking it again has no effect. */
export function revoke(key: KeyRecord, now: number): void {
  if (key.revokedAt !== undefined) return;
  key.revokedAt = now;
  key.account.activeKeys -= 1;
}

/** The active keys above the cap of the plan, after a change to a smaller plan. The oldest keys are within the cap. */
export function keysAboveCap(account: AccountRecord, switches: Switches): readonly KeyRecord[] {
  const cap = maxActiveKeys(account, switches);
  if (cap === null || account.activeKeys <= cap) return [];
  return account.keys.filter((key) => key.revokedAt === undefined).slice(cap);
}
