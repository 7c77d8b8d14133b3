import { useEffect, useRef, useState } from 'preact/hooks';
import { callAdmin } from './admin-api.ts';
import {
  type FieldSchema,
  type FieldSchemas,
  type FormInput,
  fieldError,
  isLong,
  isNumber,
  isValid,
} from './form-input.ts';
import { html, Select, withValue } from './html.ts';
import type { SectionProps } from './mock-view.ts';

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

type Collection = '/faults' | '/stubs';

/**
 * The entry that the form edits; `undefined` for a new one. `save` adds or replaces it, and returns whether the mock
 * accepted it.
 */
export function useEditedEntry<Entry extends { readonly id: string }>(
  collection: Collection,
  act: SectionProps['act'],
) {
  const [edited, setEdited] = useState<Entry>();
  const save = async (body: string) => {
    const [method, path] = edited === undefined ? ['POST', collection] : ['PUT', entryPath(collection, edited)];
    const isSaved = (await act(method, path, body)) !== undefined;
    if (isSaved) setEdited(undefined);
    return isSaved;
  };
  return { edited, setEdited, save };
}

export function entryPath(collection: Collection, { id }: { readonly id: string }): string {
  return `${collection}/${encodeURIComponent(id)}`;
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
  /** Whether to show the errors of fields. */
  readonly isChecked: boolean;
}

interface FieldGroupProps extends FieldsProps {
  readonly title: string;
  /** Whether the group is open at first if one of its fields has a value. */
  readonly opensIfFilled: boolean;
}

/** Fields that are shown on demand, if one of them has an error, and with `opensIfFilled` if one has a value. */
export function FieldGroup({ title, opensIfFilled, ...shown }: FieldGroupProps) {
  const { input, fields, prefix = '', isChecked } = shown;
  const group = useRef<HTMLDetailsElement>(null);
  const hasError = isChecked && !isValid(input, fields, prefix);
  useEffect(() => {
    if (hasError && group.current !== null) group.current.open = true;
  }, [hasError]);
  useEffect(() => {
    const isFilled = Object.keys(fields).some((name) => (input[prefix + name] ?? '') !== '');
    if (opensIfFilled && isFilled && group.current !== null) group.current.open = true;
  }, []);
  return html`<details class="group" ref=${group}><summary>${title}</summary><div class="form"><${Fields} ...${shown} /></div></details>`;
}

/** An input for each field. */
export function Fields({ form, prefix = '', fields, required = [], input, change, isChecked }: FieldsProps) {
  const writable = Object.entries(fields).filter(([, { readOnly }]) => readOnly !== true);
  return writable.map(([name, field]) => {
    const path = prefix + name;
    return html`<${Field} key=${path} id=${`${form}-${path.replace('.', '-')}`} name=${name} field=${field} isRequired=${required.includes(name)}
      value=${input[path] ?? ''} isChecked=${isChecked} change=${(value: string) => change({ ...input, [path]: value })} />`;
  });
}

interface FieldProps {
  readonly id: string;
  readonly name: string;
  readonly field: FieldSchema;
  readonly isRequired: boolean;
  readonly value: string;
  readonly isChecked: boolean;
  readonly change: (value: string) => void;
}

function Field({ id, name, field, isRequired, value, isChecked, change }: FieldProps) {
  const { description = '' } = field;
  const error = isChecked ? fieldError(value, field) : undefined;
  const texts = [...(description === '' ? [] : [`${id}-hint`]), ...(error === undefined ? [] : [`${id}-error`])];
  const attributes = { id, 'aria-describedby': texts.join(' ') || undefined, 'aria-invalid': error !== undefined };
  return html`<div class="field"><label for=${id}>${name}${isRequired && html` <span class="soft">required</span>`}</label>
    ${control()}
    ${error !== undefined && html`<p class="is-bad break" id="${id}-error" role="alert">${error}</p>`}
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

function typeAttributes(field: FieldSchema) {
  if (!isNumber(field)) return { type: 'text', class: 'mono' };
  const { type, minimum: min, maximum: max } = field;
  return { type: 'number', min, max, step: type === 'integer' ? 1 : 'any' };
}
