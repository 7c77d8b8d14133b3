import { useEffect, useState } from 'preact/hooks';
import { callAdmin } from './admin-api.ts';
import { html, Select, withValue } from './html.ts';

/** The JSON schema of a field, as far as forms read it. */
export interface FieldSchema {
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly properties?: FieldSchemas;
}

export type FieldSchemas = Readonly<Record<string, FieldSchema>>;

/** The schema of the body of `POST <path>`. Without it, there is no form. */
export function useBodySchema<Schema>(path: string): Schema | undefined {
  const [schema, setSchema] = useState<Schema>();
  const load = async () => {
    description ??= callAdmin<ApiDescription>('GET', '/openapi.json');
    const { paths } = await description;
    // The caller's type describes the body of its route.
    setSchema(paths[path]?.post?.requestBody.content['application/json'].schema as Schema);
  };
  useEffect(() => void load().catch(() => undefined), []);
  return schema;
}

/** Loaded once for all forms. */
let description: Promise<ApiDescription> | undefined;

interface ApiDescription {
  readonly paths: Readonly<Record<string, { readonly post?: { readonly requestBody: RequestBody } }>>;
}

interface RequestBody {
  readonly content: Readonly<Record<'application/json', { readonly schema: unknown }>>;
}

/** Texts in the fields of a form, by the path of the field: `match.path`. */
export type FormInput = Readonly<Record<string, string>>;

/** Settings as texts of a form. */
export function inputOf(settings: object, fields: FieldSchemas, prefix = ''): FormInput {
  const texts = Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    const inner = fields[name]?.properties;
    if (inner !== undefined) return Object.entries(inputOf(value, inner, `${name}.`));
    return value === undefined ? [] : [[prefix + name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return Object.fromEntries(texts);
}

/** The texts of a form as settings, without empty fields. The mock checks them. */
export function settingsIn(input: FormInput, fields: FieldSchemas, prefix = ''): Record<string, unknown> {
  const settings = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    if (field.properties !== undefined) {
      const inner = settingsIn(input, field.properties, `${name}.`);
      return Object.keys(inner).length === 0 ? [] : [[name, inner]];
    }
    const text = input[prefix + name]?.trim() ?? '';
    return text === '' ? [] : [[name, parsedField(text, field)]];
  });
  return Object.fromEntries(settings);
}

function parsedField(text: string, { type }: FieldSchema): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface FieldsProps {
  /** Unique on the page. */
  readonly form: string;
  /** The outer field and a dot, for fields inside a field. */
  readonly prefix?: string;
  readonly fields: FieldSchemas;
  readonly required?: readonly string[];
  readonly input: FormInput;
  readonly change: (input: FormInput) => void;
}

/** Fields that are shown on demand. */
export function FieldGroup({ title, ...fields }: FieldsProps & { readonly title: string }) {
  return html`<details class="group"><summary>${title}</summary><div class="form"><${Fields} ...${fields} /></div></details>`;
}

/** An input for each field. */
export function Fields({ form, prefix = '', fields, required = [], input, change }: FieldsProps) {
  return Object.entries(fields).map(([name, field]) => {
    const path = prefix + name;
    return html`<${Field} key=${path} id=${`${form}-${path.replace('.', '-')}`} name=${name} field=${field} isRequired=${required.includes(name)}
      value=${input[path] ?? ''} change=${(value: string) => change({ ...input, [path]: value })} />`;
  });
}

interface FieldProps {
  readonly id: string;
  readonly name: string;
  readonly field: FieldSchema;
  readonly isRequired: boolean;
  readonly value: string;
  readonly change: (value: string) => void;
}

function Field({ id, name, field, isRequired, value, change }: FieldProps) {
  const { description = '' } = field;
  const attributes = { id, 'aria-describedby': description === '' ? undefined : `${id}-hint` };
  return html`<div class="field"><label for=${id}>${name}${isRequired && html` <span class="soft">required</span>`}</label>
    ${control()}
    ${description !== '' && html`<p class="hint break" id="${id}-hint">${description.replaceAll('`', '')}</p>`}</div>`;

  function control() {
    if (field.enum !== undefined) {
      const options = [['', 'default'], ...field.enum.map((option) => [option, option])];
      return html`<${Select} ...${attributes} options=${options} chosen=${value} choose=${change} />`;
    }
    const shared = { ...attributes, value, required: isRequired, spellcheck: false, onInput: withValue(change) };
    if (isLong(field)) return html`<textarea class="mono" rows="3" ...${shared}></textarea>`;
    return html`<input autocomplete="off" ...${typeAttributes(field)} ...${shared} />`;
  }
}

function typeAttributes({ type, minimum: min, maximum: max }: FieldSchema) {
  if (type !== 'integer' && type !== 'number') return { type: 'text', class: 'mono' };
  return { type: 'number', min, max, step: type === 'integer' ? 1 : 'any' };
}

/** Whether a value can need more than one line: any JSON, or a list. */
function isLong({ type, anyOf }: FieldSchema): boolean {
  return type === 'array' || (type === undefined && anyOf === undefined);
}
