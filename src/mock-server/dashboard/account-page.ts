import { plans } from '../../generated/service.ts';
import type { MockResponse } from '../http/mock-message.ts';
import { maxActiveKeys } from '../service/accounts.ts';
import { keyUsage } from '../service/key-usage.ts';
import { maskedKey } from '../service/keys.ts';
import type { KeyRecord } from '../service/service-state.ts';
import { type Html, html } from '../web/html.ts';
import { type AccountRequest, alert, form, page } from './dashboard-request.ts';
import { formatCount, formatTime, planChoice } from './signed-out-pages.ts';

/** Actions that the account cannot do now. */
interface RefusedAction {
  readonly text: string;
  readonly status: number;
}

/** The account with its keys, their use, and its plan. */
export function accountPage(request: AccountRequest, refusal?: RefusedAction): MockResponse {
  const { account } = request;
  const done = DONE.get(request.query.get('done') ?? '');
  const content = html`<div class="row between">
<div><h1>Your account</h1><p class="hint break">${account.email} · ${plans[account.plan].title} plan</p></div>
${form(request, '/dashboard/sign-out', html`<button>Sign out</button>`)}
</div>
${refusal !== undefined && alert(refusal.text)}
${refusal === undefined && done !== undefined && html`<p class="note good" role="status">${done}</p>`}
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

/** Messages by the word in the redirect after a form. A link cannot make the page show another text. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['confirmed', 'Your e-mail address is confirmed. You can create an API key now.'],
  ['revoked', 'The key is revoked.'],
  ['plan', 'Your plan has changed.'],
]);

function confirmFirst(request: AccountRequest): Html {
  return html`<section class="note">
<h2>Confirm your e-mail address</h2>
<p>You can create keys after you have confirmed your address. <a href="/dashboard/check-email">Where is the e-mail?</a></p>
${form(request, '/dashboard/send-again', html`<button>Send the e-mail again</button>`)}
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

/** One key: its mask, its use of both limits, and a form to revoke it. */
function keyCard(request: AccountRequest, key: KeyRecord): Html {
  const { id, createdAt, revokedAt } = key;
  const isActive = revokedAt === undefined;
  return html`<li class="key${!isActive && ' over'}">
<div class="row between">
<h3 id="${id}"><code>${maskedKey(key)}</code></h3>
<span class="badge ${isActive ? 'good' : 'bad'}">${isActive ? 'active' : 'revoked'}</span>
</div>
<p class="hint">Created ${formatTime(createdAt)}${!isActive && html`, revoked ${formatTime(revokedAt)}`}</p>
${isActive && html`${meters(request, key)}${revokeForm(request, key)}`}
</li>`;
}

function meters({ context: { now, behaviour } }: AccountRequest, key: KeyRecord): Html {
  const { minute, month } = keyUsage(key, now(), behaviour);
  // Refused requests may count too, so the sum can exceed the limit.
  const used = Math.min(minute.limit, Math.floor(minute.used));
  return html`<div class="columns">
${meter(`${key.id}-minute`, 'This minute', { used, limit: minute.limit })}
${meter(`${key.id}-month`, 'This month', month)}
</div>
<p class="hint">The month ends ${formatTime(month.resetsAt)}.</p>`;
}

function meter(
  id: string,
  label: string,
  { used, limit }: { readonly used: number; readonly limit: number | null },
): Html {
  const text = limit === null ? `${formatCount(used)}, no limit` : `${formatCount(used)} of ${formatCount(limit)}`;
  return html`<div class="meter"><div class="row between"><label for="${id}">${label}</label><span>${text}</span></div>
<progress id="${id}" max="${Math.max(1, limit ?? 1)}" value="${limit === null ? 0 : Math.min(used, limit)}"></progress>
</div>`;
}

/** Two steps, without a script, because a key cannot be reactivated. */
function revokeForm(request: AccountRequest, key: KeyRecord): Html {
  return html`<details><summary>Revoke<span class="hidden"> ${maskedKey(key)}</span></summary>
<p>The next request with this key fails. You cannot undo this.</p>
${form(
  request,
  `/dashboard/keys/${key.id}/revoke`,
  html`<button class="danger">Revoke permanently<span class="hidden">: ${maskedKey(key)}</span></button>`,
)}
</details>`;
}

/** The page of a new key, which shows the key only once. */
export function newKeyPage(key: KeyRecord, secret: string | undefined): MockResponse {
  return secret === undefined ? shownBefore(key) : shownNow(secret);
}

function shownNow(secret: string): MockResponse {
  return card(
    'Your new API key',
    html`<p>Copy the key now. It is shown only once, because the service stores only its SHA-256.</p>
<div class="field"><label for="new-key">API key</label>
<textarea id="new-key" class="secret" rows="2" readonly spellcheck="false" autocomplete="off">${secret}</textarea></div>
<p class="hint">Use it from server-side code, as <code>Authorization: Bearer</code> and the key.</p>
<p><a class="button main" href="/dashboard">I have copied it</a></p>`,
  );
}

function shownBefore(key: KeyRecord): MockResponse {
  return card(
    'This key was already shown',
    html`<p>A key is shown only once. This one is <code>${maskedKey(key)}</code>. If you have lost it, revoke it and create
another.</p>
<p><a class="button" href="/dashboard">To your keys</a></p>`,
  );
}

function card(title: string, content: Html): MockResponse {
  return page(title, html`<section class="card narrow"><h1>${title}</h1>${content}</section>`);
}
