import { useState } from 'preact/hooks';
import type { JournalEntry } from '../../journal/journal.ts';
import { html } from './html.ts';
import { type SectionProps, timeOfDay } from './mock-view.ts';

/** Every request as it comes, with the reason for its answer. */
export function JournalSection({ entries, act }: SectionProps) {
  const [refusedOnly, setRefusedOnly] = useState(false);
  const shown = entries.filter(({ status }) => !refusedOnly || status >= 400 || status === 0).slice(0, MOST_ROWS);
  return html`<section class="card wide">
    <div class="row between">
      <h2>Requests</h2>
      <div class="row">
        <label class="check"><input type="checkbox" checked=${refusedOnly} onChange=${() => setRefusedOnly(!refusedOnly)} /> refused only</label>
        <button type="button" onClick=${() => act('DELETE', '/requests')}>Empty</button>
      </div>
    </div>
    ${shown.length === 0 && html`<p class="hint">No requests${refusedOnly ? ' that were refused' : ''} yet.</p>`}
    <ol class="plain journal" aria-label="Requests, newest first" tabindex=${shown.length > 0 ? 0 : undefined}>
      ${shown.map((entry) => html`<${EntryRow} key=${entry.number} entry=${entry} />`)}
    </ol>
  </section>`;
}

const MOST_ROWS = 100;

function EntryRow({ entry }: { readonly entry: JournalEntry }) {
  const { at, method, path, status, keyId, why, earlyByMs, switches } = entry;
  return html`<li class="entry">
    <span class="mono soft">${timeOfDay(at)}</span>
    <span class="badge ${status > 0 && status < 400 ? 'good' : 'bad'}">${status === 0 ? 'none' : status}</span>
    <span class="mono break">${method} ${path}</span>
    <span class="soft">${keyId ?? 'no key'}</span>
    <p class="why">${why}${earlyByMs !== undefined && html`<strong>; ${earlyByMs} ms before Retry-After had passed</strong>`}
      ${switches.length > 0 && html`<span class="hint"> · assumes ${switches.join(', ')}</span>`}</p>
  </li>`;
}
