import { html } from './html.ts';
import type { SectionProps } from './mock-view.ts';

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
