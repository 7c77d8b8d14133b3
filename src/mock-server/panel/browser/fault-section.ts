import { useState } from 'preact/hooks';
import type { FaultEffect } from '../../faults/fault-kinds.ts';
import { html } from './html.ts';
import type { MockView, SectionProps } from './mock-view.ts';

/** Something to begin with for each kind; the text can be changed before it is added. */
const EXAMPLES: readonly FaultEffect[] = [
  { kind: 'status', status: 503 },
  { kind: 'latency', latencyMs: 2000 },
  { kind: 'hang' },
  { kind: 'network-error' },
  { kind: 'reset', afterBytes: 20 },
  { kind: 'truncate', afterBytes: 20 },
  { kind: 'dribble', chunkBytes: 16, intervalMs: 100 },
  { kind: 'malformed-chunk' },
  { kind: 'garbage' },
  { kind: 'bad-json' },
  { kind: 'content-type', contentType: 'text/html' },
  { kind: 'retry-after', retryAfter: '0' },
];

/** What goes wrong on purpose. */
export function FaultSection({ view: { faults }, refusal, act }: SectionProps) {
  const [text, setText] = useState(JSON.stringify({ ...EXAMPLES[0], times: 1 }));
  const isJson = parsed(text) !== undefined;
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) =>
    setText(JSON.stringify({ ...EXAMPLES[currentTarget.selectedIndex], times: 1 }));
  const add = (event: Event) => {
    event.preventDefault();
    void act('POST', '/faults', parsed(text));
  };
  return html`<section class="card">
    <div class="row between">
      <h2>Faults</h2>
      <button type="button" disabled=${faults.length === 0} onClick=${() => act('DELETE', '/faults')}>Remove all</button>
    </div>
    <form class="field" onSubmit=${add}>
      <select aria-label="Kind of fault" onChange=${choose}>
        ${EXAMPLES.map(({ kind }) => html`<option>${kind}</option>`)}
      </select>
      <label for="fault">Fault, as JSON</label>
      <input id="fault" class="mono" value=${text} spellcheck=${false} aria-invalid=${!isJson}
        onInput=${(event: { currentTarget: HTMLInputElement }) => setText(event.currentTarget.value)} />
      ${isOfFaults(refusal) && html`<p class="note bad break" role="alert">${refusal?.message}</p>`}
      <div><button class="main" disabled=${!isJson}>Add fault</button></div>
    </form>
    <ul class="plain">${faults.map((fault) => html`<${FaultRow} key=${fault.id} fault=${fault} act=${act} />`)}</ul>
    ${faults.length === 0 && html`<p class="hint">Nothing goes wrong on purpose.</p>`}
  </section>`;
}

/** Whether the refusal is shown here, beside what was typed, and not at the top of the page. */
export function isOfFaults(refusal: SectionProps['refusal']): boolean {
  return refusal?.path.startsWith('/faults') ?? false;
}

function FaultRow({ fault, act }: Pick<SectionProps, 'act'> & { readonly fault: MockView['faults'][number] }) {
  const { id, matched, struck, addedAt: _, ...settings } = fault;
  return html`<li class="row between key-row">
    <div class="grow"><strong>${id}</strong> <span class="hint">struck ${struck} of ${matched}</span>
      <p class="hint break mono">${JSON.stringify(settings)}</p></div>
    <button type="button" class="danger" onClick=${() => act('DELETE', `/faults/${id}`)}>
      Remove<span class="hidden"> ${id}</span>
    </button>
  </li>`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Half typed.
    return undefined;
  }
}
