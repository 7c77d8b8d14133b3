import { useEffect, useState } from 'preact/hooks';
import { ask } from './admin-api.ts';
import { FaultForm, type FaultSchema } from './fault-form.ts';
import { html } from './html.ts';
import type { MockView, SectionProps } from './mock-view.ts';

type ShownFault = MockView['faults'][number];

/** The faults, with a form to add and edit them. */
export function FaultSection({ view: { faults }, refusal, act }: SectionProps) {
  const [schemas, setSchemas] = useState<readonly FaultSchema[]>([]);
  const [edited, setEdited] = useState<ShownFault>();
  // Without the description of the API there is no form; the faults are listed all the same.
  useEffect(() => void loadSchemas().then(setSchemas, () => undefined), []);
  const save = async (settings: Record<string, unknown>) => {
    if (edited === undefined) return (await act('POST', '/faults', settings)) !== undefined;
    const isReplaced = await replaceFault(act, edited, settings);
    if (isReplaced) setEdited(undefined);
    return isReplaced;
  };
  const problem = isOfFaults(refusal) ? refusal?.message : undefined;
  return html`<section class="card" aria-labelledby="faults">
    <div class="row between">
      <h2 id="faults">Faults</h2>
      <button type="button" disabled=${faults.length === 0} onClick=${() => act('DELETE', '/faults')}>Remove all</button>
    </div>
    ${
      schemas.length > 0 &&
      html`<${FaultForm} key=${edited?.id} schemas=${schemas} edited=${edited && settingsOf(edited)} problem=${problem} save=${save}
        cancel=${() => setEdited(undefined)} />`
    }
    <ul class="plain">${faults.map((fault) => html`<${FaultRow} key=${fault.id} fault=${fault} act=${act} edit=${setEdited} />`)}</ul>
    ${faults.length === 0 && html`<p class="empty">No faults.</p>`}
  </section>`;
}

/** Puts the old one back if the mock refuses the new one. */
async function replaceFault(
  act: SectionProps['act'],
  old: ShownFault,
  settings: Record<string, unknown>,
): Promise<boolean> {
  await act('DELETE', `/faults/${old.id}`);
  if ((await act('POST', '/faults', { id: old.id, ...settings })) !== undefined) return true;
  await ask('POST', '/faults', settingsOf(old));
  return false;
}

async function loadSchemas(): Promise<readonly FaultSchema[]> {
  const { paths } = await ask<FaultDescription>('GET', '/openapi.json');
  return paths['/faults'].post.requestBody.content['application/json'].schema.oneOf;
}

type JsonContent = Readonly<
  Record<'application/json', { readonly schema: { readonly oneOf: readonly FaultSchema[] } }>
>;

interface FaultDescription {
  readonly paths: Readonly<
    Record<'/faults', { readonly post: { readonly requestBody: { readonly content: JsonContent } } }>
  >;
}

/** Whether the refusal is shown here, beside what was typed, and not at the top of the page. */
export function isOfFaults(refusal: SectionProps['refusal']): boolean {
  return refusal?.path.startsWith('/faults') ?? false;
}

/** What the form takes: all but what the mock itself has noted. */
function settingsOf({ matched: _, struck: __, addedAt: ___, ...settings }: ShownFault) {
  return settings;
}

interface FaultRowProps extends Pick<SectionProps, 'act'> {
  readonly fault: ShownFault;
  readonly edit: (fault: ShownFault) => void;
}

function FaultRow({ fault, act, edit }: FaultRowProps) {
  const { id, kind, ...settings } = settingsOf(fault);
  return html`<li class="row between key-row">
    <div class="grow"><strong>${id}</strong> <span class="badge">${kind}</span> <span class="hint">struck ${fault.struck} of ${fault.matched}</span>
      ${Object.keys(settings).length > 0 && html`<p class="hint break mono">${JSON.stringify(settings).slice(1, -1).replaceAll('"', '').replaceAll(',', ', ')}</p>`}</div>
    <div class="row">
      <button type="button" onClick=${() => edit(fault)}>Edit<span class="hidden"> ${id}</span></button>
      <button type="button" class="danger" onClick=${() => act('DELETE', `/faults/${id}`)}>Remove<span class="hidden"> ${id}</span></button>
    </div>
  </li>`;
}
