import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type FieldSchema,
  type FieldSchemas,
  type FormInput,
  fieldError,
  isLong,
  isNumber,
  isValid,
  jsonObject,
  settingsIn,
} from './form-input.ts';
import { html, Select, withValue } from './html.ts';

/** The JSON schema of a body, as far as forms read it. */
export interface BodySchema {
  readonly properties: FieldSchemas;
  readonly required?: readonly string[];
  readonly examples?: readonly object[];
}

/** A group of fields that opens on demand. */
export interface Group {
  readonly title: string;
  /** Default: the fields that are nowhere else. */
  readonly names?: readonly string[];
  /** Whether it is also open at first in the form of a new entry, if one of its fields has a value. */
  readonly opens?: 'always';
}

interface SchemaFormProps {
  /** Unique on the page, for the ids of the fields. */
  readonly name: string;
  readonly label: string;
  readonly submit: string;
  readonly schema: BodySchema;
  /** By default, one group that is always open. */
  readonly groups?: readonly Group[];
  /** The texts that the form shows at first. */
  readonly start?: FormInput;
  /** Whether the form is for an entry that exists. */
  readonly isEdited?: boolean;
  /** Sends the JSON text; returns whether the mock accepted it. */
  readonly save: (body: string) => Promise<boolean>;
  /** Beside the button that sends the form. */
  readonly actions?: unknown;
  /** Between the fields and the button. */
  readonly children?: unknown;
}

/** A form with a field for each property of a schema. */
export function SchemaForm(props: SchemaFormProps) {
  const { name, label, submit, schema, groups, start = {}, isEdited = false, save, actions, children } = props;
  const fields = schema.properties;
  const [input, setInput] = useState<FormInput>(start);
  const [isChecked, setChecked] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (!isValid(input, fields) || !(await save(jsonObject(settingsIn(input, fields))))) return;
    setInput(start);
    setChecked(false);
  };
  const shared = { form: name, input, isChecked, change: setInput, required: schema.required ?? [] };
  const named = (groups ?? []).flatMap((group) => group.names ?? []);
  // The id of an entry that exists stays.
  const fieldsOf = ({ names }: Group) =>
    pick(fields, (one) => (names?.includes(one) ?? !named.includes(one)) && !(isEdited && one === 'id'));
  return html`<form class="form" aria-label=${label} onSubmit=${send}>
    ${groups === undefined && html`<div class="form fields"><${Fields} ...${shared} fields=${fields} /></div>`}
    ${(groups ?? []).map((group) => html`<${FieldGroup} ...${shared} group=${group} opens=${isEdited || group.opens === 'always'} fields=${fieldsOf(group)} />`)}
    ${children}
    <div class="row"><button class="main">${submit}</button>${actions}</div>
  </form>`;
}

function pick(fields: FieldSchemas, isPicked: (name: string) => boolean): FieldSchemas {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isPicked(name)));
}

interface FieldsProps {
  readonly form: string;
  readonly fields: FieldSchemas;
  /** The outer field and a dot, for fields inside a field. */
  readonly prefix?: string;
  readonly required: readonly string[];
  readonly input: FormInput;
  readonly change: (input: FormInput) => void;
  /** Whether to show the errors of fields. */
  readonly isChecked: boolean;
}

interface FieldGroupProps extends FieldsProps {
  readonly group: Group;
  /** Whether it is open at first if one of its fields has a value. */
  readonly opens: boolean;
}

/** Fields that are shown on demand, and if one of them has an error. */
function FieldGroup({ group: { title }, opens, ...shown }: FieldGroupProps) {
  const { input, fields, isChecked } = shown;
  const element = useRef<HTMLDetailsElement>(null);
  const hasError = isChecked && !isValid(input, fields);
  useEffect(() => {
    if (hasError && element.current !== null) element.current.open = true;
  }, [hasError]);
  useEffect(() => {
    const isFilled = Object.keys(settingsIn(input, fields)).length > 0;
    if (opens && isFilled && element.current !== null) element.current.open = true;
  }, []);
  return html`<details class="group" ref=${element}><summary>${title}</summary><div class="form fields"><${Fields} ...${shown} /></div></details>`;
}

/** An input for each field, and for each field inside a field. */
function Fields({ fields, prefix = '', ...shared }: FieldsProps): unknown {
  const { form, required, input, change, isChecked } = shared;
  const writable = Object.entries(fields).filter(([, { readOnly }]) => readOnly !== true);
  return writable.map(([name, field]) => {
    if (field.properties !== undefined)
      return html`<${Fields} ...${shared} fields=${field.properties} prefix="${prefix}${name}." required=${[]} />`;
    const path = prefix + name;
    return html`<${Field} key=${path} id=${`${form}-${path.replaceAll('.', '-')}`} name=${path} field=${field} isRequired=${required.includes(name)}
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
    const values = field.type === 'boolean' ? ['true', 'false'] : field.enum;
    if (values !== undefined) {
      const options = [['', 'default'], ...values.map((option) => [option, option])];
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
