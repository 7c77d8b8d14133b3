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
import { html } from './html.ts';
import { formError, type MockView, type SectionProps } from './mock-view.ts';
import { entryPath, FieldGroup, Fields, useBodySchema, useEditedEntry } from './schema-form.ts';
import { stubInput } from './stub-input.ts';

/** The stubs, with a form to add and edit them. */
export function StubSection({ view: { stubs }, refusal, act }: SectionProps) {
  const schema = useBodySchema<StubSchema>('/stubs');
  const { edited, setEdited, save } = useEditedEntry<ShownStub>('/stubs', act);
  return html`<section class="card" aria-labelledby="stubs">
    <div class="row between">
      <h2 id="stubs">Stubs</h2>
      <button type="button" disabled=${stubs.length === 0} onClick=${() => act('DELETE', '/stubs')}>Remove all</button>
    </div>
    ${
      schema !== undefined &&
      html`<${StubForm} key=${edited?.id} schema=${schema} edited=${edited} problem=${formError('/stubs', refusal)} save=${save}
        cancel=${() => setEdited(undefined)} />`
    }
    <ul class="plain">${stubs.toReversed().map((stub) => html`<${StubRow} key=${stub.id} stub=${stub} act=${act} edit=${setEdited} />`)}</ul>
    ${stubs.length === 0 && html`<p class="empty">No stubs.</p>`}
  </section>`;
}

interface StubSchema {
  readonly properties: FieldSchemas & Readonly<Record<'match' | 'error' | 'body', FieldSchema>>;
  readonly examples: readonly object[];
}

interface StubFormProps {
  readonly schema: StubSchema;
  /** The stub to change; `undefined` for a new one. */
  readonly edited: ShownStub | undefined;
  readonly problem: string | undefined;
  /** Returns whether the mock accepted it. */
  readonly save: (stub: string) => Promise<boolean>;
  readonly cancel: () => void;
}

function StubForm({ schema: { properties: described, examples }, edited, problem, save, cancel }: StubFormProps) {
  // The body is sent as it was typed, whether or not it is JSON.
  const body = { ...described.body, type: 'string', isLong: true };
  const properties: StubSchema['properties'] = { ...described, body };
  const initial = edited === undefined ? inputOf(examples[0] ?? {}, properties) : stubInput(edited, properties);
  const [input, setInput] = useState<FormInput>(initial);
  const [isChecked, setChecked] = useState(false);
  const { id, match, error, data, status, ...rest } = properties;
  const others = id === undefined || edited !== undefined ? rest : { id, ...rest };
  const submit = async (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (!isValid(input, properties) || !(await save(jsonObject(settingsIn(input, properties))))) return;
    setInput(initial);
    setChecked(false);
  };
  const shared = { form: 'stub', input, isChecked, change: setInput };
  return html`<form class="form" aria-label=${edited === undefined ? 'New stub' : `Stub ${edited.id}`} onSubmit=${submit}>
    <${Fields} ...${shared} fields=${{ status, data }} />
    <${FieldGroup} title="Which requests" opensIfFilled=${edited !== undefined} ...${shared} prefix="match." fields=${match.properties} />
    <${FieldGroup} title="An error instead of data" opensIfFilled=${edited !== undefined} ...${shared} prefix="error." fields=${error.properties} />
    <${FieldGroup} title="More settings" opensIfFilled=${edited !== undefined} ...${shared} fields=${others} />
    ${problem !== undefined && html`<p class="note bad break" role="alert">${problem}</p>`}
    <div class="row"><button class="main">${edited === undefined ? 'Add stub' : 'Save stub'}</button>
      ${edited !== undefined && html`<button type="button" onClick=${cancel}>Cancel</button>`}</div>
  </form>`;
}

type ShownStub = MockView['stubs'][number];

interface StubRowProps extends Pick<SectionProps, 'act'> {
  readonly stub: ShownStub;
  readonly edit: (stub: ShownStub) => void;
}

function StubRow({ stub, act, edit }: StubRowProps) {
  const { id, match } = stub;
  return html`<li class="row between key-row">
    <div class="grow"><strong class="break">${id}</strong> <span class="badge">${responseText(stub)}</span> <span class="hint">${servedText(stub)}</span>
      ${Object.keys(match).length > 0 && html`<p class="hint break mono">${JSON.stringify(match)}</p>`}
      ${stub.responses[0] !== undefined && html`<p class="hint break mono">${shortened(stub.responses[0].body)}</p>`}</div>
    <div class="row">
      ${stub.kind === 'responses' && html`<button type="button" onClick=${() => edit(stub)}>Edit<span class="hidden"> ${id}</span></button>`}
      <button type="button" class="danger" onClick=${() => act('DELETE', entryPath('/stubs', stub))}>Remove<span class="hidden"> ${id}</span></button>
    </div>
  </li>`;
}

/** `200`, `503, then 200`, or the source of the responses. */
function responseText({ kind, responses }: ShownStub): string {
  if (kind !== 'responses') return { replay: 'recording', function: 'function' }[kind];
  const statuses = responses.slice(0, MOST_STATUSES).map(({ status }) => status);
  return statuses.join(', then ') + (responses.length > MOST_STATUSES ? ', …' : '');
}

const MOST_STATUSES = 4;

function servedText({ served, times, priority }: ShownStub): string {
  const left = times === undefined ? '' : `, ${times - served} left`;
  return `served ${served} times${left}${priority === 0 ? '' : `, priority ${priority}`}`;
}

function shortened(body: string): string {
  return body.length > MOST_CHARACTERS ? `${body.slice(0, MOST_CHARACTERS)}…` : body;
}

const MOST_CHARACTERS = 160;
