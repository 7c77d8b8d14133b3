import type { KeyRecord } from '../../service/service-state.ts';
import { type Html, html } from '../../web/html.ts';
import { type AccountRequest, form } from '../dashboard-request.ts';
import { keyUse } from '../key-use.ts';
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
