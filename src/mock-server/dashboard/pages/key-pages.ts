import { quotaUse } from '../../service/quota.ts';
import { type KeyRecord, limitPerMinute, type ServiceContext } from '../../service/service-state.ts';
import { type Html, html } from '../../web/html.ts';
import { type AccountRequest, form, type Page, page } from '../dashboard-request.ts';
import { formatCount, formatTime } from './format.ts';

/** Beginning and end of a key: all that the service can still show. */
export function maskedKey({ prefix, lastFour }: KeyRecord): string {
  return `${prefix}…${lastFour}`;
}

/** One key: what is left to see of it, its use of both limits, and the way to revoke it. */
export function keyCard(request: AccountRequest, key: KeyRecord): Html {
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

function meters({ context }: AccountRequest, key: KeyRecord): Html {
  const { minute, month } = keyUse(context, key);
  return html`<div class="columns">
${meter(`${key.id}-minute`, 'This minute', minute)}
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

/** Two steps without a script: there is no way back from revoked. */
function revokeForm(request: AccountRequest, key: KeyRecord): Html {
  return html`<details><summary>Revoke<span class="hidden"> ${maskedKey(key)}</span></summary>
<p>Its next request fails, and it stays revoked.</p>
${form(
  request,
  `/dashboard/keys/${key.id}/revoke`,
  html`<button class="danger">Revoke for good<span class="hidden">: ${maskedKey(key)}</span></button>`,
)}
</details>`;
}

/** A key just made, the one time it is shown; and the same page ever after, without it. */
export function newKeyPage(key: KeyRecord, secret: string | undefined): Page {
  return secret === undefined ? shownBefore(key) : shownNow(secret);
}

function shownNow(secret: string): Page {
  return card(
    'Your new API key',
    html`<p>Copy it now. It is shown this once and cannot be brought back: only its SHA-256 is kept.</p>
<div class="field"><label for="new-key">API key</label>
<textarea id="new-key" class="secret" rows="2" readonly spellcheck="false" autocomplete="off">${secret}</textarea></div>
<p class="hint">Use it from server-side code, as <code>Authorization: Bearer</code> and the key.</p>
<p><a class="button main" href="/dashboard">I have copied it</a></p>`,
  );
}

function shownBefore(key: KeyRecord): Page {
  return card(
    'This key was shown already',
    html`<p>A key is shown once. All that is left of this one is <code>${maskedKey(key)}</code>. If it is lost, revoke
it and create another.</p>
<p><a class="button" href="/dashboard">To your keys</a></p>`,
  );
}

function card(title: string, content: Html): Page {
  return page(title, html`<section class="card narrow"><h1>${title}</h1>${content}</section>`);
}

/** How much of its two limits a key has used. */
export interface KeyUse {
  readonly minute: { readonly used: number; readonly limit: number };
  /** `limit` is `null` for any number; `resetsAt` in milliseconds since the Unix epoch. */
  readonly month: { readonly used: number; readonly limit: number | null; readonly resetsAt: number };
}

/** Looks at both limits; counts nothing. */
export function keyUse({ behaviour, now }: ServiceContext, key: KeyRecord): KeyUse {
  const limit = limitPerMinute(key.account);
  // Refused requests may count too; more than all of it is all of it.
  const used = Math.min(limit, Math.floor(key.window?.used(limit, now()) ?? 0));
  return { minute: { used, limit }, month: quotaUse(key, now(), behaviour) };
}
