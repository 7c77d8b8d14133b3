import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type FieldSchema,
  type FieldSchemas,
  type FormInput,
  inputOf,
  isLong,
  isNumber,
  jsonObject,
  jsonProblem,
  settingsIn,
} from './form-input.ts';
import { html, Select, withValue } from './html.ts';

/** The JSON schema of a body, as far as forms read it. */
export interface BodySchema {
  readonly properties: FieldSchemas;
  readonly required?: readonly string[];
  /** The first one is shown in empty fields. */
  readonly examples?: readonly object[];
}

/** A group of fields that opens on demand. */
export interface Group {
  readonly title: string;
  /** Default: the fields that are nowhere else. */
  readonly names?: readonly string[];
  /** Whether it is open at first, also if no field has a value. */
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
  /** The texts of the entry that the form edits. Without it, the form is for a new entry. */
  readonly edited?: FormInput | undefined;
  /** Sends the JSON text; returns whether the mock accepted it. */
  readonly save: (body: string) => Promise<boolean>;
  /** Beside the button that sends the form. */
  readonly actions?: unknown;
  /** Between the fields and the button. */
  readonly children?: unknown;
}

/** A form with a field for each property of a schema. The first invalid field gets the focus. */
export function SchemaForm(props: SchemaFormProps) {
  const { name, label, submit, schema, groups, edited, save, actions, children } = props;
  const fields = schema.properties;
  const form = useRef<HTMLFormElement>(null);
  const [input, setInput] = useState<FormInput>(edited ?? {});
  const [isChecked, setChecked] = useState(false);
  const isSending = useRef(false);
  useEffect(() => {
    if (edited !== undefined) form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, []);
  const send = async (event: Event) => {
    event.preventDefault();
    if (isSending.current) return; // the second click of a double click
    const settings = jsonObject(settingsIn(input, fields));
    isSending.current = true;
    const isSaved = await save(settings).finally(() => {
      isSending.current = false;
    });
    if (!isSaved) return;
    setInput((now) => edited ?? typedSince(input, now));
    setChecked(false);
  };
  // The browser cannot focus a field in a closed group.
  const showErrors = (event: Event & { readonly target: HTMLInputElement }) => {
    const { target } = event;
    target.closest('details')?.setAttribute('open', '');
    setChecked(true);
    if (!target.validity.customError) return;
    event.preventDefault(); // the browser would cover the message beside the field with a second one
    if (form.current?.querySelector(':invalid') === target) target.focus();
  };
  const example = inputOf(schema.examples?.[0] ?? {}, fields);
  const shared = { form: name, input, example, isChecked, change: setInput, required: schema.required ?? [] };
  const named = (groups ?? []).flatMap((group) => group.names ?? []);
  // The id of an entry that exists stays.
  const fieldsOf = ({ names }: Group) =>
    pick(fields, (one) => (names?.includes(one) ?? !named.includes(one)) && !(edited !== undefined && one === 'id'));
  const group = ({ title, opens }: Group, own: FieldSchemas) => {
    const isOpen = opens === 'always' || Object.keys(settingsIn(edited ?? {}, own)).length > 0;
    return html`<details class="group" open=${isOpen}><summary>${title}</summary><div class="form fields"><${Fields} ...${shared} fields=${own} /></div></details>`;
  };
  return html`<form class="form" ref=${form} aria-label=${label} onSubmit=${send} onInvalidCapture=${showErrors}>
    ${groups === undefined && html`<div class="form fields"><${Fields} ...${shared} fields=${fields} /></div>`}
    ${(groups ?? []).map((one) => group(one, fieldsOf(one)))}
    ${children}
    <div class="row"><button class="main">${submit}</button>${actions}</div>
  </form>`;
}

/** The texts that the user has changed while the mock saved others. */
function typedSince(saved: FormInput, now: FormInput): FormInput {
  return Object.fromEntries(Object.entries(now).filter(([path, text]) => text !== saved[path]));
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
  /** Texts for empty fields. */
  readonly example: FormInput;
  readonly change: (input: FormInput) => void;
  /** Whether to show the errors of fields. */
  readonly isChecked: boolean;
}

/** An input for each field, and for each field inside a field. */
function Fields({ fields, prefix = '', ...shared }: FieldsProps): unknown {
  const { form, required, input, example, change, isChecked } = shared;
  const writable = Object.entries(fields).filter(([, { readOnly }]) => readOnly !== true);
  return writable.map(([name, field]) => {
    if (field.properties !== undefined)
      return html`<${Fields} ...${shared} fields=${field.properties} prefix="${prefix}${name}." required=${[]} />`;
    const path = prefix + name;
    return html`<${Field} key=${path} id=${`${form}-${path.replaceAll('.', '-')}`} name=${path} field=${field} isRequired=${required.includes(name)}
      value=${input[path] ?? ''} example=${example[path]} isChecked=${isChecked} change=${(value: string) => change({ ...input, [path]: value })} />`;
  });
}

interface FieldProps {
  readonly id: string;
  readonly name: string;
  readonly field: FieldSchema;
  readonly isRequired: boolean;
  readonly value: string;
  readonly example: string | undefined;
  readonly isChecked: boolean;
  readonly change: (value: string) => void;
}

function Field({ id, name, field, isRequired, value, example, isChecked, change }: FieldProps) {
  const { description = '' } = field;
  const problem = jsonProblem(value, field);
  const error = isChecked ? problem : undefined;
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
    // Until the text is valid, the browser does not submit the form.
    const ref = (input: HTMLInputElement | HTMLTextAreaElement | null) => input?.setCustomValidity(problem ?? '');
    const typed = { value, placeholder: example, required: isRequired, spellcheck: false, onInput: withValue(change) };
    const shared = { ...attributes, ...typed, ref };
    if (isLong(field)) return html`<textarea class="mono" rows="3" ...${shared}></textarea>`;
    return html`<input autocomplete="off" ...${typeAttributes(field)} ...${shared} />`;
  }
}

function typeAttributes(field: FieldSchema) {
  if (!isNumber(field)) return { type: 'text', class: 'mono' };
  const { type, minimum: min, maximum: max } = field;
  return { type: 'number', min, max, step: type === 'integer' ? 1 : 'any' };
}
