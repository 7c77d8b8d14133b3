import { useState } from 'preact/hooks';
import type { JournalEntry } from '../../journal/journal.ts';
import { html } from './html.ts';
import { type ClockState, type SectionProps, timeOfDay } from './mock-view.ts';

const STEPS = [
  ['+ 1 second', { advanceMs: 1000 }],
  ['+ 1 minute', { advanceMs: 60_000 }],
  ['+ 1 hour', { advanceMs: 3_600_000 }],
  ['+ 1 day', { advanceMs: 86_400_000 }],
  ['To the next window', { advanceTo: 'next-window' }],
  ['To the quota reset', { advanceTo: 'quota-reset' }],
] as const;

export function ClockSection({ view: { clock }, act }: SectionProps) {
  return html`<section class="card wide">
    <div class="row between">
      <h2>Clock</h2>
      <span class="badge">${paceOf(clock)}</span>
    </div>
    <p class="now mono"><time datetime=${clock.iso}>${clock.iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}</time></p>
    <div class="row">
      <button type="button" onClick=${() => act('POST', '/clock', { frozen: !clock.frozen })}>
        ${clock.frozen ? 'Resume' : 'Freeze'}
      </button>
      ${STEPS.map(
        ([text, step]) => html`<button type="button" onClick=${() => act('POST', '/clock', step)}>${text}</button>`,
      )}
    </div>
  </section>`;
}

function paceOf({ mode, frozen }: ClockState): string {
  if (frozen) return 'frozen: moves when told';
  return mode === 'real' ? 'runs in real time' : 'virtual: moves when told, or when all wait for it';
}

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

/** The mails of the emulated service, newest first. */
export function OutboxSection({ view: { mails }, act }: SectionProps) {
  return html`<section class="card" id="outbox">
    <div class="row between">
      <h2>Outbox</h2>
      <button type="button" disabled=${mails.length === 0} onClick=${() => act('DELETE', '/outbox')}>Empty</button>
    </div>
    ${mails.length === 0 && html`<p class="hint">No mail. Signing up in the <a href="/dashboard">dashboard</a> sends one.</p>`}
    <ul class="plain">
      ${mails.toReversed().map(
        ({ id, to, subject, confirmPath, expiresAt }) => html`<li key=${id} class="mail">
          <strong>${subject}</strong>
          <p class="hint break">To ${to}; works until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC</p>
          <a class="button" href=${confirmPath}>Confirm<span class="hidden"> ${to}</span></a>
        </li>`,
      )}
    </ul>
  </section>`;
}
