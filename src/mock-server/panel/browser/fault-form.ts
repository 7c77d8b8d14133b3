import { useState } from 'preact/hooks';
import { html } from './html.ts';

/** The JSON schema of one kind of fault, as far as the form reads it. */
export interface FaultSchema {
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

/** What was typed, by the path of the field: `match.path`. */
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

/** What was typed as the settings of a fault. Empty fields are left out; what is wrong, the mock says. */
export function settingsOf(kind: string, input: FaultInput, { properties }: FaultSchema): Record<string, unknown> {
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

/** Says when and how often, for every kind. */
const CONDITIONS = ['id', 'nth', 'times', 'probability', 'forMs', 'strikes'];

interface FaultFormProps {
  readonly schemas: readonly FaultSchema[];
  /** The fault to change; `undefined` for a new one. */
  readonly edited: Readonly<Record<string, unknown>> | undefined;
  readonly problem: string | undefined;
  /** Says whether the mock took it. */
  readonly save: (settings: Record<string, unknown>) => Promise<boolean>;
  readonly cancel: () => void;
}

/** A form with a field for each property of the chosen kind. */
export function FaultForm({ schemas, edited, problem, save, cancel }: FaultFormProps) {
  const [kind, setKind] = useState(String(edited?.['kind'] ?? schemas[0]?.properties.kind.const));
  const [input, setInput] = useState<FaultInput>(edited === undefined ? begin(schemas[0]) : inputOf(edited));
  const schema = schemas.find(({ properties }) => properties.kind.const === kind);
  if (schema === undefined) return null;
  const { kind: _, match, ...fields } = schema.properties;
  const own = Object.entries(fields).filter(([name]) => !CONDITIONS.includes(name));
  const conditions = Object.entries(fields).filter(([name]) => CONDITIONS.includes(name));
  const choose = ({ currentTarget: { value } }: { readonly currentTarget: HTMLSelectElement }) => {
    setKind(value);
    setInput(begin(schemas.find(({ properties }) => properties.kind.const === value)));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if ((await save(settingsOf(kind, input, schema))) && edited === undefined) setInput(begin(schema));
  };
  const field =
    (prefix: string) =>
    ([name, one]: readonly [string, FieldSchema]) =>
      html`<${Field} name=${prefix + name} field=${one} isRequired=${prefix === '' && schema.required.includes(name)} value=${input[prefix + name] ?? ''}
      change=${(value: string) => setInput({ ...input, [prefix + name]: value })} />`;
  return html`<form class="form" aria-label=${edited === undefined ? 'New fault' : `Fault ${edited['id']}`} onSubmit=${submit}>
    <div class="field"><label for="fault-kind">Kind of fault</label>
      <select id="fault-kind" disabled=${edited !== undefined} onChange=${choose}>
        ${schemas.map(({ properties }) => html`<option selected=${properties.kind.const === kind}>${properties.kind.const}</option>`)}
      </select></div>
    ${own.map(field(''))}
    <details class="group"><summary>How often</summary><div class="form">${conditions.map(field(''))}</div></details>
    <details class="group"><summary>Which requests</summary><div class="form">${Object.entries(match?.properties ?? {}).map(field('match.'))}</div></details>
    ${problem !== undefined && html`<p class="note bad break" role="alert">${problem}</p>`}
    <div class="row"><button class="main">${edited === undefined ? 'Add fault' : 'Save fault'}</button>
      ${edited !== undefined && html`<button type="button" onClick=${cancel}>Cancel</button>`}</div>
  </form>`;
}

/** Once, unless told otherwise: a fault that is forgotten must not break what comes after. */
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
      onInput=${(event: { readonly currentTarget: HTMLInputElement }) => change(event.currentTarget.value)} />`;
  }

  function selectFor(options: readonly string[]) {
    return html`<select id=${id} aria-describedby=${description === '' ? undefined : `${id}-hint`}
      onChange=${(event: { readonly currentTarget: HTMLSelectElement }) => change(event.currentTarget.value)}>
      <option value="" selected=${value === ''}>by default</option>
      ${options.map((option) => html`<option selected=${option === value}>${option}</option>`)}
    </select>`;
  }
}
