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
import { FieldGroup, Fields, useBodySchema } from './schema-form.ts';

/** The stubs, with a form to add one. */
export function StubSection({ view: { stubs }, refusal, act }: SectionProps) {
  const schema = useBodySchema<StubSchema>('/stubs');
  const add = async (stub: string) => (await act('POST', '/stubs', stub)) !== undefined;
  return html`<section class="card" aria-labelledby="stubs">
    <div class="row between">
      <h2 id="stubs">Stubs</h2>
      <button type="button" disabled=${stubs.length === 0} onClick=${() => act('DELETE', '/stubs')}>Remove all</button>
    </div>
    ${schema !== undefined && html`<${StubForm} schema=${schema} problem=${formError('/stubs', refusal)} add=${add} />`}
    <ul class="plain">${stubs.toReversed().map((stub) => html`<${StubRow} key=${stub.id} stub=${stub} act=${act} />`)}</ul>
    ${stubs.length === 0 && html`<p class="empty">No stubs.</p>`}
  </section>`;
}

interface StubSchema {
  readonly properties: FieldSchemas & Readonly<Record<'match' | 'error' | 'body', FieldSchema>>;
  readonly examples: readonly object[];
}

interface StubFormProps {
  readonly schema: StubSchema;
  readonly problem: string | undefined;
  /** Returns whether the mock accepted it. */
  readonly add: (stub: string) => Promise<boolean>;
}

function StubForm({ schema: { properties: described, examples }, problem, add }: StubFormProps) {
  // The body is sent as it was typed, whether or not it is JSON.
  const body = { ...described.body, type: 'string', isLong: true };
  const properties: StubSchema['properties'] = { ...described, body };
  const initial = inputOf(examples[0] ?? {}, properties);
  const [input, setInput] = useState<FormInput>(initial);
  const [isChecked, setChecked] = useState(false);
  const { match, error, data, status, ...others } = properties;
  const submit = async (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (!isValid(input, properties) || !(await add(jsonObject(settingsIn(input, properties))))) return;
    setInput(initial);
    setChecked(false);
  };
  const shared = { form: 'stub', input, isChecked, change: setInput };
  return html`<form class="form" aria-label="New stub" onSubmit=${submit}>
    <${Fields} ...${shared} fields=${{ status, data }} />
    <${FieldGroup} title="Which requests" ...${shared} prefix="match." fields=${match.properties} />
    <${FieldGroup} title="An error instead of data" ...${shared} prefix="error." fields=${error.properties} />
    <${FieldGroup} title="More settings" ...${shared} fields=${others} />
    ${problem !== undefined && html`<p class="note bad break" role="alert">${problem}</p>`}
    <div class="row"><button class="main">Add stub</button></div>
  </form>`;
}

type ShownStub = MockView['stubs'][number];

function StubRow({ stub, act }: { readonly stub: ShownStub } & Pick<SectionProps, 'act'>) {
  const { id, match } = stub;
  return html`<li class="row between key-row">
    <div class="grow"><strong class="break">${id}</strong> <span class="badge">${responseText(stub)}</span> <span class="hint">${servedText(stub)}</span>
      ${Object.keys(match).length > 0 && html`<p class="hint break mono">${JSON.stringify(match)}</p>`}
      ${stub.responses[0] !== undefined && html`<p class="hint break mono">${shortened(stub.responses[0].body)}</p>`}</div>
    <button type="button" class="danger" onClick=${() => act('DELETE', `/stubs/${encodeURIComponent(id)}`)}>Remove<span class="hidden"> ${id}</span></button>
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
