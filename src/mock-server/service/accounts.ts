import { type PlanName, plans } from '../../generated/service.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import { checkOptionNames, invalidOption, unknownId } from '../mock-server-error.ts';
import type { AccountRecord, KeyRecord, ServiceContext, ServiceState } from './service-state.ts';

/** An account of the emulated service. */
export interface Account {
  /** Id of the account, for example `account_1`. */
  readonly id: string;
  /** E-mail address. */
  readonly email: string;
  /** Plan, which determines the limits of all keys of the account. */
  readonly plan: PlanName;
  /** Whether the e-mail address is confirmed. Only then can keys be created. */
  readonly confirmed: boolean;
  /** Time of creation, by the mock's clock. */
  readonly createdAt: Date;
}

/** Options of `mock.accounts.create()`. All are optional. */
export interface CreateAccountOptions {
  /**
   * E-mail address of the account.
   * @default an invented address below `example.test`
   */
  readonly email?: string | undefined;
  /**
   * Plan of the account.
   * @default 'free'
   */
  readonly plan?: PlanName | undefined;
}

/** Creates and changes accounts, as a user does in the dashboard. */
export interface Accounts {
  /**
   * Creates an account whose e-mail address is not confirmed.
   * @throws MockServerError with code `invalid_option`, for an unknown plan or an invalid address.
   * @example mock.accounts.create({ email: 'ada@example.test', plan: 'developer' })
   */
  create(options?: CreateAccountOptions): Account;
  /**
   * Confirms the e-mail address, as the link in the confirmation e-mail does.
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
   * @throws MockServerError with code `not_found`.
   */
  setPlan(accountId: string, plan: PlanName): Account;
  /** Returns all accounts, oldest first. */
  list(): readonly Account[];
}

export function createAccounts(context: ServiceContext): Accounts {
  const { state, now } = context;
  return {
    create(options = {}) {
      checkOptionNames(options, { what: 'an option of accounts.create()', known: ['email', 'plan'] });
      const { email, plan = 'free' } = options;
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
  throw unknownId('account', accountId, { known: state.accounts.keys() });
}

function view({ id, email, plan, isConfirmed, createdAt }: AccountRecord): Account {
  return { id, email, plan, confirmed: isConfirmed, createdAt: new Date(createdAt) };
}

function checkPlan(plan: unknown): void {
  if (!isPlan(plan)) throw invalidOption('plan', plan, `one of ${Object.keys(plans).join(', ')}`);
}

export function isPlan(name: unknown): name is PlanName {
  return typeof name === 'string' && Object.hasOwn(plans, name);
}

function checkEmail(email: unknown): void {
  if (!isEmail(email)) throw invalidOption('email', email, 'an e-mail address');
}

export function isEmail(text: unknown): boolean {
  return typeof text === 'string' && /^[^\s@]+@[^\s@]+$/.test(text);
}

/** Moves an account to `plan`. The switches define the effect on usage and on keys above the new cap. */
function applyPlanChange({ behaviour, now }: ServiceContext, account: AccountRecord, plan: PlanName): void {
  account.plan = plan;
  if (behaviour.use('planChange') === 'reset') {
    for (const key of account.keys) key.used = 0;
  }
  if (behaviour.use('overCapKeys') !== 'revoke-newest') return;
  for (const key of keysAboveCap(account, behaviour)) revoke(key, now());
}

/** Maximum number of active keys of the account; `null` for no maximum. */
export function maxActiveKeys(account: AccountRecord, behaviour: Behaviour): number | null {
  return plans[account.plan].maxActiveKeys ?? behaviour.use('freeMaxActiveKeys');
}

/** Revokes a key. Revoking it again has no effect. */
export function revoke(key: KeyRecord, now: number): void {
  if (key.revokedAt !== undefined) return;
  key.revokedAt = now;
  key.account.activeKeys -= 1;
}

/** The active keys above the cap of the plan, after a change to a smaller plan. The oldest keys are within the cap. */
export function keysAboveCap(account: AccountRecord, behaviour: Behaviour): readonly KeyRecord[] {
  // Every plan allows one key, and most accounts have one.
  if (account.activeKeys <= 1) return [];
  const cap = maxActiveKeys(account, behaviour);
  if (cap === null || account.activeKeys <= cap) return [];
  return account.keys.filter((key) => key.revokedAt === undefined).slice(cap);
}
