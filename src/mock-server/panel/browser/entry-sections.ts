import { useState } from 'preact/hooks';
import { type FormInput, inputOf, stubInput } from './form-input.ts';
import { html, Problem, Rows, Section } from './html.ts';
import type { MockView, SectionProps } from './mock-view.ts';
import { type BodySchema, type Group, SchemaForm } from './schema-form.ts';

type ShownFault = MockView['faults'][number];
type ShownStub = MockView['stubs'][number];

/** The faults, with a form to add and edit them. */
export function FaultSection(props: SectionProps) {
  const { oneOf: schemas = [] } = props.bodySchema<{ readonly oneOf: readonly BodySchema[] }>('/faults') ?? {};
  return html`<${EntrySection} ...${props} name="fault" entries=${props.view.faults} schemas=${schemas} groups=${FAULT_GROUPS}
    start=${startFault} rowOf=${faultRow} />`;
}

const FAULT_GROUPS: readonly Group[] = [
  { title: 'How often', names: ['id', 'nth', 'times', 'probability', 'forMs', 'strikes'], opens: 'always' },
  { title: 'Which requests', names: ['match'] },
];

/** A new fault strikes once by default: a forgotten fault must not break later requests. */
function startFault({ properties, examples = [] }: BodySchema, edited: ShownFault | undefined): FormInput {
  return inputOf(edited === undefined ? { ...examples[0], times: 1 } : settingsOf(edited), properties);
}

/** The settings of a fault, without the fields that the mock adds. */
function settingsOf({ matched: _, struck: __, addedAt: ___, ...settings }: ShownFault) {
  return settings;
}

function faultRow(fault: ShownFault): EntryTexts {
  const { id: _, kind, ...settings } = settingsOf(fault);
  const text = JSON.stringify(settings).slice(1, -1).replaceAll('"', '').replaceAll(',', ', ');
  return { badge: kind, hint: `struck ${fault.struck} of ${fault.matched} requests`, lines: [text] };
}

/** The stubs, with a form to add and edit them. */
export function StubSection(props: SectionProps) {
  const schema = props.bodySchema<BodySchema>('/stubs');
  // The body is sent as it was typed, whether or not it is JSON.
  const body = { ...schema?.properties['body'], type: 'string', isLong: true };
  const schemas = schema === undefined ? [] : [{ ...schema, properties: { ...schema.properties, body } }];
  return html`<${EntrySection} ...${props} name="stub" entries=${props.view.stubs.toReversed()} schemas=${schemas}
    main=${['status', 'data']} groups=${STUB_GROUPS} start=${startStub} rowOf=${stubRow} />`;
}

const STUB_GROUPS: readonly Group[] = [
  { title: 'Which requests', names: ['match'] },
  { title: 'An error instead of data', names: ['error'] },
  { title: 'More settings' },
];

function startStub({ properties, examples = [] }: BodySchema, edited: ShownStub | undefined): FormInput {
  return edited === undefined ? inputOf(examples[0] ?? {}, properties) : stubInput(edited, properties);
}

function stubRow({ match, kind, responses, served, times, priority }: ShownStub): EntryTexts {
  const statuses = responses.slice(0, MOST_STATUSES).map(({ status }) => status);
  const isCut = responses.length > MOST_STATUSES;
  const left = times === undefined ? '' : `, ${times - served} left`;
  const { body = '' } = responses[0] ?? {};
  const isEditable = kind === 'responses';
  return {
    badge: isEditable
      ? statuses.join(', then ') + (isCut ? ', …' : '')
      : { replay: 'recording', function: 'function' }[kind],
    hint: `served ${served} times${left}${priority === 0 ? '' : `, priority ${priority}`}`,
    lines: [
      Object.keys(match).length === 0 ? '' : JSON.stringify(match),
      body.length > MOST_CHARACTERS ? `${body.slice(0, MOST_CHARACTERS)}…` : body,
    ],
    isEditable,
  };
}

const MOST_STATUSES = 4;
const MOST_CHARACTERS = 160;

/** The texts of an entry in the list. */
interface EntryTexts {
  readonly badge: string;
  readonly hint: string;
  readonly lines: readonly string[];
  /** Default: true. */
  readonly isEditable?: boolean;
}

interface EntrySectionProps<Entry> extends Pick<SectionProps, 'refusal' | 'act'> {
  readonly name: 'fault' | 'stub';
  readonly entries: readonly Entry[];
  readonly schemas: readonly BodySchema[];
  readonly main?: readonly string[];
  readonly groups: readonly Group[];
  readonly start: (schema: BodySchema, edited: Entry | undefined) => FormInput;
  readonly rowOf: (entry: Entry) => EntryTexts;
}

/** Entries of one kind, and the form that adds or replaces one of them. */
function EntrySection<Entry extends { readonly id: string; readonly kind: string }>(props: EntrySectionProps<Entry>) {
  const { name, entries, schemas, start, rowOf, refusal, act } = props;
  const [edited, setEdited] = useState<Entry>();
  const collection = `/${name}s`;
  // With the id of an entry, it replaces that entry.
  const save = async (body: string) => {
    const isSaved = (await act('POST', collection, body)) !== undefined;
    if (isSaved) setEdited(undefined);
    return isSaved;
  };
  const row = (entry: Entry) => html`<${EntryRow} key=${entry.id} id=${entry.id} texts=${rowOf(entry)}
    edit=${() => setEdited(entry)} remove=${() => act('DELETE', `${collection}/${encodeURIComponent(entry.id)}`)} />`;
  const removeAll = html`<button type="button" disabled=${entries.length === 0} onClick=${() => act('DELETE', collection)}>Remove all</button>`;
  return html`<${Section} title=${name === 'fault' ? 'Faults' : 'Stubs'} actions=${removeAll}>
    <${SchemaForm} key=${`${schemas.length} ${edited?.id}`} name=${name} schemas=${schemas} main=${props.main} groups=${props.groups} save=${save}
      label=${edited === undefined ? `New ${name}` : `${name === 'fault' ? 'Fault' : 'Stub'} ${edited.id}`}
      submit=${edited === undefined ? `Add ${name}` : `Save ${name}`} kind=${name === 'fault' ? edited?.kind : undefined} isEdited=${edited !== undefined}
      start=${(schema: BodySchema) => start(schema, edited)}
      actions=${edited !== undefined && html`<button type="button" onClick=${() => setEdited(undefined)}>Cancel</button>`}>
      <${Problem} refusal=${refusal} path=${collection} below />
    <//>
    <${Rows} items=${entries} row=${row} empty=${`No ${name}s.`} atOnce=${20} />
  <//>`;
}

interface EntryRowProps {
  readonly id: string;
  readonly texts: EntryTexts;
  readonly edit: () => void;
  readonly remove: () => void;
}

function EntryRow({ id, texts: { badge, hint, lines, isEditable = true }, edit, remove }: EntryRowProps) {
  const shown = lines.filter((line) => line !== '');
  return html`<li class="row between key-row">
    <div class="grow"><strong class="break">${id}</strong> <span class="badge">${badge}</span> <span class="hint">${hint}</span>
      ${shown.map((line) => html`<p class="hint break mono">${line}</p>`)}</div>
    <div class="row">
      ${isEditable && html`<button type="button" onClick=${edit}>Edit<span class="hidden"> ${id}</span></button>`}
      <button type="button" class="danger" onClick=${remove}>Remove<span class="hidden"> ${id}</span></button>
    </div>
  </li>`;
}
