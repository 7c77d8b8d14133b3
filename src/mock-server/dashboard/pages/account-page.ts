import { plans } from '../../../generated/service.ts';
import { maxActiveKeys } from '../../service/accounts.ts';
import { type Html, html } from '../../web/html.ts';
import { type AccountRequest, alert, form, notice, type Page, page } from '../dashboard-request.ts';
import { keyCard } from './key-pages.ts';
import { planChoice } from './welcome-page.ts';

/** What the account may not do now. */
export interface RefusedAction {
  readonly text: string;
  readonly status: number;
}

/** The account with its keys, their use, and its plan. */
export function accountPage(request: AccountRequest, refusal?: RefusedAction): Page {
  const { account } = request;
  const done = DONE.get(request.query.get('done') ?? '');
  const content = html`<div class="row between">
<div><h1>Your account</h1><p class="hint break">${account.email} · ${plans[account.plan].title} plan</p></div>
${form(request, '/dashboard/sign-out', html`<button>Sign out</button>`)}
</div>
${refusal !== undefined && alert(refusal.text)}
${refusal === undefined && done !== undefined && notice(done)}
${!account.isConfirmed && confirmFirst(request)}
${keySection(request)}
<section class="card">
<h2>Your plan</h2>
${form(
  request,
  '/dashboard/plan',
  html`${planChoice('plan', account.plan)}
<button>Change plan</button>`,
)}
</section>`;
  return page('Your account', content, refusal?.status ?? 200);
}

/** By the word that the redirect after a form carries: a page cannot be made to say anything else. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['confirmed', 'Your e-mail address is confirmed. You can create an API key now.'],
  ['revoked', 'The key is revoked.'],
  ['plan', 'Your plan has changed.'],
]);

function confirmFirst(request: AccountRequest): Html {
  return html`<section class="note">
<h2>Confirm your e-mail address</h2>
<p>Keys can be created once your address is confirmed. <a href="/dashboard/check-email">Where is the mail?</a></p>
${form(request, '/dashboard/send-again', html`<button>Send the mail again</button>`)}
</section>`;
}

function keySection(request: AccountRequest): Html {
  const { account, context } = request;
  const cap = maxActiveKeys(account, context.behaviour);
  const keys = account.keys.toReversed().map((key) => keyCard(request, key));
  return html`<section class="card">
<div class="row between">
<div><h2>API keys</h2>
<p class="hint">${account.activeKeys}${cap !== null && html` of ${cap}`} active</p></div>
${form(request, '/dashboard/keys', html`<button class="main">Create key</button>`)}
</div>
${keys.length === 0 ? html`<p>No keys yet.</p>` : html`<ul class="keys">${keys}</ul>`}
</section>`;
}
