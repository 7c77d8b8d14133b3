import type { KeyRecord } from '../../service/service-state.ts';
import { type Html, html } from '../../web/html.ts';
import { type Page, page } from '../dashboard-request.ts';
import { maskedKey } from './key-card.ts';

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
