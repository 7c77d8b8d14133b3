import { type PlanName, plans } from '../../generated/service.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import { invalidOption, MockServerError, show } from '../mock-server-error.ts';
import type { AccountRecord, KeyRecord, ServiceContext, ServiceState } from './service-state.ts';

/** An account of the emulated service. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly plan: PlanName;
  /** Keys can be made once the e-mail address is confirmed. */
  readonly confirmed: boolean;
  readonly createdAt: Date;
}

export interface CreateAccountOptions {
  /** Default: an invented address under `example.test`. */
  readonly email?: string | undefined;
  /** Default: `'free'`. */
  readonly plan?: PlanName | undefined;
}

/** The accounts of one mock; what a person does in the dashboard. */
export interface Accounts {
  /** A new account; its e-mail address is not confirmed yet. */
  create(options?: CreateAccountOptions): Account;
  /** Follows the link of the confirmation e-mail. */
  confirm(accountId: string): Account;
  get(accountId: string): Account;
  /** Moves the account, and with it its keys, to another plan. */
  setPlan(accountId: string, plan: PlanName): Account;
  list(): readonly Account[];
}

export function createAccounts(context: ServiceContext): Accounts {
  const { state, now } = context;
  return {
    create({ email, plan = 'free' } = {}) {
      checkPlan(plan);
      if (email !== undefined) checkEmail(email);
      state.lastAccount += 1;
      const account: AccountRecord = {
        id: `account_${state.lastAccount}`,
        email: email ?? `account-${state.lastAccount}@example.test`,
        createdAt: now(),
        plan,
        isConfirmed: false,
        keys: [],
        activeKeys: 0,
      };
      state.accounts.set(account.id, account);
      return view(account);
    },
    confirm(accountId) {
      const account = findAccount(state, accountId);
      account.isConfirmed = true;
      return view(account);
    },
    get: (accountId) => view(findAccount(state, accountId)),
    setPlan(accountId, plan) {
      checkPlan(plan);
      const account = findAccount(state, accountId);
      applyPlanChange(context, account, plan);
      return view(account);
    },
    list: () => Array.from(state.accounts.values(), view),
  };
}

export function findAccount(state: ServiceState, accountId: string): AccountRecord {
  const account = state.accounts.get(accountId);
  if (account !== undefined) return account;
  throw new MockServerError(`There is no account ${show(accountId)}; mock.accounts.create() makes one.`, {
    code: 'not_found',
    status: 404,
  });
}

function view({ id, email, plan, isConfirmed, createdAt }: AccountRecord): Account {
  return { id, email, plan, confirmed: isConfirmed, createdAt: new Date(createdAt) };
}

function checkPlan(plan: unknown): void {
  if (typeof plan === 'string' && Object.hasOwn(plans, plan)) return;
  throw invalidOption('plan', plan, `one of ${Object.keys(plans).join(', ')}`);
}

function checkEmail(email: unknown): void {
  if (typeof email === 'string' && /^[^\s@]+@[^\s@]+$/.test(email)) return;
  throw invalidOption('email', email, 'an e-mail address');
}

/** Moves an account to `plan`; the switches say what becomes of usage and of keys above the new cap. */
export function applyPlanChange({ behaviour, now }: ServiceContext, account: AccountRecord, plan: PlanName): void {
  account.plan = plan;
  if (behaviour.use('planChange') === 'reset') {
    for (const key of account.keys) key.used = 0;
  }
  if (behaviour.use('overCapKeys') !== 'revoke-newest') return;
  for (const key of keysAboveCap(account, behaviour)) revoke(key, now());
}

/** How many keys of the account may be active at once; `null` for any number. */
export function maxActiveKeys(account: AccountRecord, behaviour: Behaviour): number | null {
  return plans[account.plan].maxActiveKeys ?? behaviour.use('freeMaxActiveKeys');
}

/** Ends a key for good; once more changes nothing. */
export function revoke(key: KeyRecord, now: number): void {
  if (key.revokedAt !== undefined) return;
  key.revokedAt = now;
  key.account.activeKeys -= 1;
}

/** Active keys that have no place in the account's plan, because it was larger once; the oldest keep theirs. */
export function keysAboveCap(account: AccountRecord, behaviour: Behaviour): readonly KeyRecord[] {
  // One key has a place in every plan; most accounts have one.
  if (account.activeKeys <= 1) return [];
  const cap = maxActiveKeys(account, behaviour);
  if (cap === null || account.activeKeys <= cap) return [];
  return account.keys.filter((key) => key.revokedAt === undefined).slice(cap);
}
