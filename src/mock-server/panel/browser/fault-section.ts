import { useEffect, useState } from 'preact/hooks';
import { callAdmin } from './admin-api.ts';
import { html, Select, withValue } from './html.ts';
import type { MockView, SectionProps } from './mock-view.ts';

type ShownFault = MockView['faults'][number];

/** The faults, with a form to add and edit them. */
export function FaultSection({ view: { faults }, refusal, act }: SectionProps) {
  const [schemas, setSchemas] = useState<readonly FaultSchema[]>([]);
  const [edited, setEdited] = useState<ShownFault>();
  // Without the description of the API there is no form, only the list of faults.
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

/** Restores the old fault if the mock refuses the new one. */
async function replaceFault(
  act: SectionProps['act'],
  old: ShownFault,
  settings: Record<string, unknown>,
): Promise<boolean> {
  await act('DELETE', `/faults/${old.id}`);
  if ((await act('POST', '/faults', { id: old.id, ...settings })) !== undefined) return true;
  await callAdmin('POST', '/faults', settingsOf(old));
  return false;
}

async function loadSchemas(): Promise<readonly FaultSchema[]> {
  const { paths } = await callAdmin<FaultDescription>('GET', '/openapi.json');
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

/** Whether the error is shown beside the input, not at the top of the page. */
export function isOfFaults(refusal: SectionProps['refusal']): boolean {
  return refusal?.path.startsWith('/faults') ?? false;
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
      <button type="button" class="danger" onClick=${() => act('DELETE', `/faults/${id}`)}>Remove<span class="hidden"> ${id}</span></button>
    </div>
  </li>`;
}

/** The JSON schema of one kind of fault, as far as the form reads it. */
interface FaultSchema {
  readonly properties: Readonly<Record<string, FieldSchema>> & { readonly kind: { readonly const: string } };
  readonly required: readonly string[];
  readonly examples: readonly Readonly<Record<string, unknown>>[];
}

interface FieldSchema {
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
}

/** The input, by the path of the field: `match.path`. */
export type FaultInput = Readonly<Record<string, string>>;

/** Settings of a fault as they are typed. */
export function inputOf(settings: Readonly<Record<string, unknown>>, prefix = ''): FaultInput {
  const fields = Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    if (name === 'match' && typeof value === 'object' && value !== null)
      return Object.entries(inputOf({ ...value }, 'match.'));
    return value === undefined ? [] : [[prefix + name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return Object.fromEntries(fields);
}

/** The input as the settings of a fault, without empty fields. The mock checks it. */
function typedSettings(kind: string, input: FaultInput, { properties }: FaultSchema): Record<string, unknown> {
  const read = (fields: Readonly<Record<string, FieldSchema>>, prefix: string) =>
    Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
      const text = input[prefix + name]?.trim() ?? '';
      return text === '' ? [] : [[name, parsedField(text, field)]];
    });
  const { kind: _, match, ...own } = properties;
  const matched = read(match?.properties ?? {}, 'match.');
  return {
    kind,
    ...Object.fromEntries(read(own, '')),
    ...(matched.length > 0 && { match: Object.fromEntries(matched) }),
  };
}

function parsedField(text: string, { type }: FieldSchema): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The fields for time and frequency, which every kind has. */
const CONDITIONS = ['id', 'nth', 'times', 'probability', 'forMs', 'strikes'];

interface FaultFormProps {
  readonly schemas: readonly FaultSchema[];
  /** The fault to change; `undefined` for a new one. */
  readonly edited: Readonly<Record<string, unknown>> | undefined;
  readonly problem: string | undefined;
  /** Returns whether the mock accepted it. */
  readonly save: (settings: Record<string, unknown>) => Promise<boolean>;
  readonly cancel: () => void;
}

/** A form with a field for each property of the chosen kind. */
function FaultForm({ schemas, edited, problem, save, cancel }: FaultFormProps) {
  const [kind, setKind] = useState(String(edited?.['kind'] ?? schemas[0]?.properties.kind.const));
  const [input, setInput] = useState<FaultInput>(edited === undefined ? begin(schemas[0]) : inputOf(edited));
  const schema = schemas.find(({ properties }) => properties.kind.const === kind);
  if (schema === undefined) return null;
  const { kind: _, match, ...fields } = schema.properties;
  const own = Object.entries(fields).filter(([name]) => !CONDITIONS.includes(name));
  const conditions = Object.entries(fields).filter(([name]) => CONDITIONS.includes(name));
  const choose = (value: string) => {
    setKind(value);
    setInput(begin(schemas.find(({ properties }) => properties.kind.const === value)));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if ((await save(typedSettings(kind, input, schema))) && edited === undefined) setInput(begin(schema));
  };
  const field =
    (prefix: string) =>
    ([name, one]: readonly [string, FieldSchema]) =>
      html`<${Field} name=${prefix + name} field=${one} isRequired=${prefix === '' && schema.required.includes(name)} value=${input[prefix + name] ?? ''}
      change=${(value: string) => setInput({ ...input, [prefix + name]: value })} />`;
  return html`<form class="form" aria-label=${edited === undefined ? 'New fault' : `Fault ${edited['id']}`} onSubmit=${submit}>
    <div class="field"><label for="fault-kind">Kind of fault</label>
      <${Select} id="fault-kind" disabled=${edited !== undefined} chosen=${kind} choose=${choose}
        options=${schemas.map(({ properties }) => [properties.kind.const, properties.kind.const])} /></div>
    ${own.map(field(''))}
    <details class="group"><summary>How often</summary><div class="form">${conditions.map(field(''))}</div></details>
    <details class="group"><summary>Which requests</summary><div class="form">${Object.entries(match?.properties ?? {}).map(field('match.'))}</div></details>
    ${problem !== undefined && html`<p class="note bad break" role="alert">${problem}</p>`}
    <div class="row"><button class="main">${edited === undefined ? 'Add fault' : 'Save fault'}</button>
      ${edited !== undefined && html`<button type="button" onClick=${cancel}>Cancel</button>`}</div>
  </form>`;
}

/** Once by default: a forgotten fault must not break later requests. */
function begin(schema: FaultSchema | undefined): FaultInput {
  const { kind: _, ...example } = schema?.examples[0] ?? {};
  return { ...inputOf(example), times: '1' };
}

interface FieldProps {
  readonly name: string;
  readonly field: FieldSchema;
  readonly isRequired: boolean;
  readonly value: string;
  readonly change: (value: string) => void;
}

function Field({ name, field, isRequired, value, change }: FieldProps) {
  const { description = '' } = field;
  const id = `fault-${name.replace('.', '-')}`;
  return html`<div class="field"><label for=${id}>${name.replace('match.', '')}${isRequired && html` <span class="soft">required</span>`}</label>
    ${field.enum === undefined ? inputFor(field) : selectFor(field.enum)}
    ${description !== '' && html`<p class="hint break" id="${id}-hint">${description}</p>`}</div>`;

  function inputFor({ type, minimum, maximum }: FieldSchema) {
    const isNumber = type === 'integer' || type === 'number';
    const number = isNumber ? { type: 'number', min: minimum, max: maximum, step: type === 'integer' ? 1 : 'any' } : {};
    return html`<input id=${id} class=${isNumber ? '' : 'mono'} type="text" ...${number} value=${value} required=${isRequired} autocomplete="off"
      spellcheck=${false} aria-describedby=${description === '' ? undefined : `${id}-hint`}
      onInput=${withValue(change)} />`;
  }

  function selectFor(options: readonly string[]) {
    return html`<${Select} id=${id} aria-describedby=${description === '' ? undefined : `${id}-hint`}
      options=${[['', 'default'], ...options.map((option) => [option, option])]} chosen=${value} choose=${change} />`;
  }
}
