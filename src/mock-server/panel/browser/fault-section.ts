import { useState } from 'preact/hooks';
import {
  type FieldSchema,
  type FieldSchemas,
  type FormInput,
  inputOf,
  isValid,
  jsonObject,
  settingsIn,
} from './form-input.ts';
import { html, Select } from './html.ts';
import { formError, type MockView, type SectionProps } from './mock-view.ts';
import { entryPath, FieldGroup, Fields, useBodySchema, useEditedEntry } from './schema-form.ts';

type ShownFault = MockView['faults'][number];

/** The faults, with a form to add and edit them. */
export function FaultSection({ view: { faults }, refusal, act }: SectionProps) {
  const { oneOf: schemas = [] } = useBodySchema<{ readonly oneOf: readonly FaultSchema[] }>('/faults') ?? {};
  const { edited, setEdited, save } = useEditedEntry<ShownFault>('/faults', act);
  const problem = formError('/faults', refusal);
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

/** The settings of a fault, without the fields that the mock adds. */
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
    <div class="grow"><strong>${id}</strong> <span class="badge">${kind}</span> <span class="hint">struck ${fault.struck} of ${fault.matched} requests</span>
      ${Object.keys(settings).length > 0 && html`<p class="hint break mono">${JSON.stringify(settings).slice(1, -1).replaceAll('"', '').replaceAll(',', ', ')}</p>`}</div>
    <div class="row">
      <button type="button" onClick=${() => edit(fault)}>Edit<span class="hidden"> ${id}</span></button>
      <button type="button" class="danger" onClick=${() => act('DELETE', entryPath('/faults', fault))}>Remove<span class="hidden"> ${id}</span></button>
    </div>
  </li>`;
}

/** The JSON schema of one kind of fault, as far as the form reads it. */
interface FaultSchema {
  readonly properties: FieldSchemas & Readonly<Record<'kind' | 'match', FieldSchema>>;
  readonly required: readonly string[];
  readonly examples: readonly object[];
}

/** The fields for time and frequency, which every kind has. */
const CONDITIONS = ['id', 'nth', 'times', 'probability', 'forMs', 'strikes'];

interface FaultFormProps {
  readonly schemas: readonly FaultSchema[];
  /** The fault to change; `undefined` for a new one. */
  readonly edited: (Pick<ShownFault, 'kind'> & { readonly id?: string }) | undefined;
  readonly problem: string | undefined;
  /** Returns whether the mock accepted it. */
  readonly save: (fault: string) => Promise<boolean>;
  readonly cancel: () => void;
}

/** A form with a field for each property of the chosen kind. */
function FaultForm({ schemas, edited, problem, save, cancel }: FaultFormProps) {
  const schemaOf = (name: string | undefined) =>
    schemas.find(({ properties }) => properties.kind.const === name) ?? schemas[0];
  const [kind, setKind] = useState(edited?.kind ?? schemas[0]?.properties.kind.const);
  const schema = schemaOf(kind);
  const [input, setInput] = useState<FormInput>(schema === undefined ? {} : begin(schema, edited));
  const [isChecked, setChecked] = useState(false);
  if (schema === undefined) return null;
  const { kind: _, match, id, ...rest } = schema.properties;
  const fields: FieldSchemas = id === undefined || edited !== undefined ? rest : { id, ...rest };
  const isCondition = (name: string) => CONDITIONS.includes(name);
  const choose = (value: string) => {
    setKind(value);
    setChecked(false);
    setInput(begin(schemaOf(value) ?? schema, undefined));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const { kind: _, ...others } = schema.properties;
    setChecked(true);
    if (!isValid(input, others)) return;
    const isSaved = await save(jsonObject({ kind: JSON.stringify(kind), ...settingsIn(input, others) }));
    if (!isSaved || edited !== undefined) return;
    setInput(begin(schema, undefined));
    setChecked(false);
  };
  const shared = { form: 'fault', input, isChecked, change: setInput };
  return html`<form class="form" aria-label=${edited === undefined ? 'New fault' : `Fault ${edited.id}`} onSubmit=${submit}>
    <div class="field"><label for="fault-kind">Kind of fault</label>
      <${Select} id="fault-kind" disabled=${edited !== undefined} chosen=${kind} choose=${choose}
        options=${schemas.map(({ properties }) => [properties.kind.const, properties.kind.const])} /></div>
    <${Fields} ...${shared} fields=${pick(fields, (name) => !isCondition(name))} required=${schema.required} />
    <${FieldGroup} title="How often" opensIfFilled=${true} ...${shared} fields=${pick(fields, isCondition)} />
    <${FieldGroup} title="Which requests" opensIfFilled=${edited !== undefined} ...${shared} prefix="match." fields=${match.properties} />
    ${problem !== undefined && html`<p class="note bad break" role="alert">${problem}</p>`}
    <div class="row"><button class="main">${edited === undefined ? 'Add fault' : 'Save fault'}</button>
      ${edited !== undefined && html`<button type="button" onClick=${cancel}>Cancel</button>`}</div>
  </form>`;
}

function pick(fields: FieldSchemas, isPicked: (name: string) => boolean): FieldSchemas {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isPicked(name)));
}

/** A new fault strikes once by default: a forgotten fault must not break later requests. */
function begin({ properties, examples }: FaultSchema, edited: object | undefined): FormInput {
  return inputOf(edited ?? { ...examples[0], times: 1 }, properties);
}
