import { html } from './html.ts';
import type { ClockState, SectionProps } from './mock-view.ts';

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

/** The mails of the emulated service, newest first. */
export function OutboxSection({ view: { mails }, act }: SectionProps) {
  return html`<section class="card" id="outbox">
    <div class="row between">
      <h2>Outbox</h2>
      <button type="button" disabled=${mails.length === 0} onClick=${() => act('DELETE', '/outbox')}>Empty</button>
    </div>
    ${mails.length === 0 && html`<p class="empty">No mail. Signing up in the <a href="/dashboard">dashboard</a> sends one.</p>`}
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
