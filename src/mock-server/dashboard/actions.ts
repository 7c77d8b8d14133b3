import type { MockResponse } from '../http/mock-message.ts';
import { MockServerError } from '../mock-server-error.ts';
import { createAccounts, findAccount, isEmail, isPlan, maxActiveKeys } from '../service/accounts.ts';
import { createKeys } from '../service/keys.ts';
import { followLink, sendConfirmation } from '../service/outbox.ts';
import type { AccountRecord, KeyRecord, ServiceState } from '../service/service-state.ts';
import { accountPage, newKeyPage } from './account-page.ts';
import { type AccountRequest, type DashboardRequest, redirect } from './dashboard-request.ts';
import { checkMailPage, type FormMistake, messagePage, welcomePage } from './signed-out-pages.ts';

export function home(request: DashboardRequest): MockResponse {
  const { account } = request.session;
  return account === undefined ? welcomePage(request) : accountPage({ ...request, account });
}

export function signUp(request: DashboardRequest): MockResponse {
  const { context, form, sessions } = request;
  const email = emailOf(form);
  const plan = form.get('plan') ?? 'free';
  const mistake = (text: string, status: number) => welcomePage(request, { at: 'sign-up', text, status });
  if (!isEmail(email) || email.length > 254) return mistake(NOT_AN_ADDRESS, 422);
  if (!isPlan(plan)) return mistake('Choose one of the plans.', 422);
  if (accountOf(context.state, email) !== undefined)
    return mistake('An account with this address already exists.', 409);
  const { id } = createAccounts(context).create({ email, plan });
  const account = findAccount(context.state, id);
  sendConfirmation(context, account);
  return redirect('/dashboard/check-email', sessions.open(account));
}

export function signIn(request: DashboardRequest): MockResponse {
  const email = emailOf(request.form);
  const account = accountOf(request.context.state, email);
  if (account !== undefined) return redirect('/dashboard', request.sessions.open(account));
  const mistake: FormMistake = { at: 'sign-in', text: 'There is no account with this address.', status: 404 };
  return welcomePage(request, mistake);
}

export function signOut({ sessions }: DashboardRequest): MockResponse {
  return redirect('/dashboard', sessions.open());
}

/** The link of the e-mail. It also signs in, in any browser, because only the owner of the address has it. */
export function confirmEmail(request: DashboardRequest): MockResponse {
  const found = followLink(request.context, request.query.get('token') ?? '');
  if (typeof found === 'object') return redirect('/dashboard?done=confirmed', request.sessions.open(found));
  return messagePage(BROKEN_LINKS[found]);
}

const BROKEN_LINKS = {
  unknown: { status: 404, title: 'This link is not valid', text: 'Copy the complete link, or request another e-mail.' },
  used: { status: 410, title: 'This link was already used', text: 'A confirmation link works once.' },
  expired: {
    status: 410,
    title: 'This link has expired',
    text: 'A link is valid for 24 hours. Request another e-mail.',
  },
} as const;

export function checkMail(request: AccountRequest): MockResponse {
  return request.account.isConfirmed ? redirect('/dashboard') : checkMailPage(request);
}

export function sendAgain({ context, account }: AccountRequest): MockResponse {
  if (account.isConfirmed) return redirect('/dashboard');
  sendConfirmation(context, account);
  return redirect('/dashboard/check-email');
}

export function createKey(request: AccountRequest): MockResponse {
  try {
    const created = createKeys(request.context).create({ accountId: request.account.id });
    request.newKeys.add(created);
    return redirect(`/dashboard/keys/${created.id}`);
  } catch (error) {
    if (!(error instanceof MockServerError) || error.status === undefined) throw error;
    return accountPage(request, { text: keyRefusal(request), status: error.status });
  }
}

export function showKey(request: AccountRequest): MockResponse {
  const key = ownKey(request);
  return key === undefined ? messagePage(NO_SUCH_KEY) : newKeyPage(key, request.newKeys.take(key));
}

export function revokeKey(request: AccountRequest): MockResponse {
  const key = ownKey(request);
  if (key === undefined) return messagePage(NO_SUCH_KEY);
  createKeys(request.context).revoke(key.id);
  return redirect('/dashboard?done=revoked');
}

export function changePlan(request: AccountRequest): MockResponse {
  const plan = request.form.get('plan');
  if (!isPlan(plan)) return accountPage(request, { text: 'Choose one of the plans.', status: 422 });
  createAccounts(request.context).setPlan(request.account.id, plan);
  return redirect('/dashboard?done=plan');
}

const NOT_AN_ADDRESS = 'This is not an e-mail address. Enter one such as name@example.com.';
const NO_SUCH_KEY = { status: 404, title: 'Key not found', text: 'Your account has no key with this id.' };

function emailOf(form: URLSearchParams): string {
  return (form.get('email') ?? '').trim();
}

function accountOf({ accounts }: ServiceState, email: string): AccountRecord | undefined {
  for (const account of accounts.values()) if (account.email === email) return account;
  return undefined;
}

/** A key of another account counts as unknown. */
function ownKey({ account, path }: AccountRequest): KeyRecord | undefined {
  return account.keys.find(({ id }) => id === path['id']);
}

/** Messages for users of the page. The messages of the core are for authors of tests. */
function keyRefusal({ account, context }: AccountRequest): string {
  if (!account.isConfirmed) return 'Confirm your e-mail address first; then you can create keys.';
  const cap = maxActiveKeys(account, context.behaviour);
  const keys = cap === 1 ? '1 active key' : `${cap} active keys`;
  return `Your plan allows ${keys}. Revoke one first, or change the plan.`;
}
