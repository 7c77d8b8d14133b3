import { html } from './html.ts';
import type { SectionProps } from './mock-view.ts';

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
      <span class="badge">${clock.mode === 'real' ? 'runs in real time' : 'virtual: moves when told'}</span>
    </div>
    <p class="now mono"><time datetime=${clock.iso}>${clock.iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}</time></p>
    <div class="row">
      ${STEPS.map(
        ([text, step]) => html`<button type="button" onClick=${() => act('POST', '/clock', step)}>${text}</button>`,
      )}
    </div>
  </section>`;
}
