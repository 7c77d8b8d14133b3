import * as z from 'zod';
import { type PlanName, plans } from '../../generated/service.ts';
import type { Switches } from '../behaviour/behaviour.ts';
import { checkedInput, expected, plainObject, strictObject, type ValueOf } from '../matching/checked-input.ts';
import { withId } from '../mock-server-error.ts';
import {
  type AccountRecord,
  type KeyRecord,
  type MailRecord,
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
  /** Time of creation, by the mock's clock. */
  createdAt: z.date(),
});

/** An account of the emulated service. */
export interface Account extends ValueOf<typeof account> {}

export const accountOptions = strictObject({
  /**
   * E-mail address of the account.
   * @default an invented address below `example.test`
   */
  email: expected('an e-mail address', z.string().regex(/^[^\s@]+@[^\s@]+$/)).optional(),
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
   * Creates an account whose e-mail address is not confirmed, and sends a confirmation e-mail to it.
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
   * Sends the confirmation e-mail again.
   * @throws MockServerError with code `not_found`.
   */
  sendConfirmation(accountId: string): Mail;
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
  const { state } = context;
  return {
    create(options = {}) {
      const { email, plan = 'free' } = checkedInput(accountOptions, options, {
        what: 'an option of accounts.create()',
      });
      const account = addAccount(context, { email, plan, isConfirmed: false });
      sendConfirmation(context, account);
      return view(account);
    },
    confirm(accountId) {
      const account = findAccount(state, accountId);
      account.isConfirmed = true;
      return view(account);
    },
    sendConfirmation: (accountId) => sendConfirmation(context, findAccount(state, accountId)),
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

/** Adds an account to the state. It sends no e-mail. */
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
  return withId('account', accountId, { among: state.accounts });
}

function view({ id, email, plan, isConfirmed, createdAt }: AccountRecord): Account {
  return { id, email, plan, confirmed: isConfirmed, createdAt: new Date(createdAt) };
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
export function maxActiveKeys(account: AccountRecord, behaviour: Switches): number | null {
  return plans[account.plan].maxActiveKeys ?? behaviour.use('freeMaxActiveKeys');
}

/** Revokes a key. Revoking it again has no effect. */
export function revoke(key: KeyRecord, now: number): void {
  if (key.revokedAt !== undefined) return;
  key.revokedAt = now;
  key.account.activeKeys -= 1;
}

/** The active keys above the cap of the plan, after a change to a smaller plan. The oldest keys are within the cap. */
export function keysAboveCap(account: AccountRecord, behaviour: Switches): readonly KeyRecord[] {
  const cap = maxActiveKeys(account, behaviour);
  if (cap === null || account.activeKeys <= cap) return [];
  return account.keys.filter((key) => key.revokedAt === undefined).slice(cap);
}

export const mail = plainObject({
  /** Id of the e-mail, for example `mail_1`. */
  id: z.string(),
  /** Id of the account whose address `mock.accounts.confirm()` confirms. */
  accountId: z.string(),
  /** Address of the recipient. */
  to: z.string(),
  /** Subject line. */
  subject: z.string(),
  /** Time of sending, by the mock's clock. */
  sentAt: z.date(),
});

/** A confirmation e-mail. The mock sends no real e-mail. */
export interface Mail extends ValueOf<typeof mail> {}

/** The confirmation e-mails of new accounts. */
export interface Outbox {
  /** Returns the e-mails, oldest first; with `to`, only those to one address. */
  list(options?: { readonly to?: string | undefined }): readonly Mail[];
  /** Deletes all e-mails. */
  clear(): void;
}

export function createOutbox({ state }: ServiceContext): Outbox {
  return {
    list: ({ to } = {}) => state.mails.filter((mail) => to === undefined || mail.to === to).map(mailView),
    clear() {
      state.mails = [];
    },
  };
}

/** Adds the e-mail that asks the owner of an account to confirm its address. */
function sendConfirmation({ state, now }: ServiceContext, { id, email }: AccountRecord): Mail {
  state.lastMail += 1;
  const mail = { id: `mail_${state.lastMail}`, accountId: id, to: email, sentAt: now() };
  state.mails.push(mail);
  if (state.mails.length > MOST_MAILS) state.mails.shift();
  return mailView(mail);
}

/** More than a test needs. Limits the memory of a mock that runs for weeks. */
const MOST_MAILS = 1000;

function mailView({ sentAt, ...mail }: MailRecord): Mail {
  return { ...mail, subject: 'Confirm your e-mail address', sentAt: new Date(sentAt) };
}
