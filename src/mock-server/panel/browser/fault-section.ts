import { useEffect, useState } from 'preact/hooks';
import { ask } from './admin-api.ts';
import { html } from './html.ts';
import type { MockView, SectionProps } from './mock-view.ts';

/** What goes wrong on purpose. */
export function FaultSection({ view: { faults }, refusal, act }: SectionProps) {
  const [examples, setExamples] = useState<readonly FaultExample[]>([]);
  const [text, setText] = useState('');
  const begin = (example: FaultExample | undefined) => setText(JSON.stringify({ ...example, times: 1 }));
  useEffect(() => {
    const show = (loaded: readonly FaultExample[]) => {
      setExamples(loaded);
      begin(loaded[0]);
    };
    // Without the examples the text is typed whole.
    void loadExamples().then(show, () => undefined);
  }, []);
  const isJson = parsed(text) !== undefined;
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) =>
    begin(examples[currentTarget.selectedIndex]);
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
        ${examples.map(({ kind }) => html`<option>${kind}</option>`)}
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

interface FaultExample {
  readonly kind: string;
}

/** Something to begin with for each kind, as the description of the admin API has it. */
async function loadExamples(): Promise<readonly FaultExample[]> {
  const { paths } = await ask<FaultDescription>('GET', '/openapi.json');
  const { schema } = paths['/faults'].post.requestBody.content['application/json'];
  return schema.oneOf.flatMap(({ examples }) => examples);
}

interface FaultDescription {
  readonly paths: Readonly<
    Record<'/faults', { readonly post: { readonly requestBody: { readonly content: JsonContent } } }>
  >;
}

type JsonContent = Readonly<
  Record<
    'application/json',
    { readonly schema: { readonly oneOf: readonly { readonly examples: readonly FaultExample[] }[] } }
  >
>;

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
