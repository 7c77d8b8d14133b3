import { useRef, useState } from 'preact/hooks';
import { formInputOf, hasOneAnswer, isSameRule, ruleFields, type ShownRule, settingsText } from './form-input.ts';
import { html, Refusal, Rows, Section } from './html.ts';
import type { SectionProps } from './mock-view.ts';
import { type BodySchema, type Group, SchemaForm } from './schema-form.ts';

/** The rules, with a form to add and edit them. */
export function RuleSection({ view: { rules }, bodySchema, refusal, act }: SectionProps) {
  const [chosen, setChosen] = useState<ShownRule>();
  // A rule that was removed or replaced meanwhile would be added again, or would replace another one.
  const isThere = chosen !== undefined && rules.some((rule) => isSameRule(rule, chosen));
  const edited = isThere ? chosen : undefined;
  const opener = useRef<HTMLElement>(null);
  const edit = (rule: ShownRule, button: HTMLElement) => {
    opener.current = button;
    setChosen(rule);
  };
  const endEdit = () => {
    if (edited !== undefined) opener.current?.focus(); // the focused button of the form is about to go
    setChosen(undefined);
  };
  const schema = bodySchema<BodySchema>('/rules');
  // With the id of a rule, it replaces that rule.
  const save = async (body: string) => {
    const isSaved = (await act('POST', '/rules', body)) !== undefined;
    if (isSaved) endEdit();
    return isSaved;
  };
  const row = (rule: ShownRule) => html`<${RuleRow} key=${rule.id} rule=${rule}
    edit=${(button: HTMLElement) => edit(rule, button)} remove=${() => act('DELETE', `/rules/${encodeURIComponent(rule.id)}`)} />`;
  const removeAll = html`<button type="button" disabled=${rules.length === 0} onClick=${() => act('DELETE', '/rules')}>Remove all</button>`;
  const shared = { groups: GROUPS, save };
  const error = html`<${Refusal} refusal=${refusal} path="/rules" below />`;
  return html`<${Section} title="Rules" actions=${removeAll}
    hint="Which requests, when, and what happens. The topmost rule that matches counts: the one added last. What it does not say, the next one or the service does.">
    ${
      schema !== undefined &&
      html`<div hidden=${edited !== undefined}>
        <${SchemaForm} name="rule" schema=${formOf(schema, undefined)} ...${shared} label="New rule" submit="Add rule">${error}<//></div>`
    }
    ${
      schema !== undefined &&
      edited !== undefined &&
      html`<${SchemaForm} key=${edited.id} name="edited-rule" schema=${formOf(schema, edited)} ...${shared}
        edited=${formInputOf(edited, ruleFields(schema.properties, edited))} label="Rule ${edited.id}" submit="Save rule"
        actions=${html`<button type="button" onClick=${endEdit}>Cancel</button>`}>${error}<//>`
    }
    <${Rows} items=${rules.toReversed()} rows=${(shown: readonly ShownRule[]) => shown.map(row)} empty="No rules." atOnce=${20} />
  <//>`;
}

const GROUPS: readonly Group[] = [
  { title: 'Response', names: ['respond'], opens: 'always' },
  { title: 'Which requests', names: ['match'] },
  { title: 'When', names: ['id', 'nth', 'times', 'probability', 'afterMs', 'forMs', 'counted'] },
  { title: 'Delay and failure' },
];

function formOf(schema: BodySchema, edited: ShownRule | undefined): BodySchema {
  return { ...schema, properties: ruleFields(schema.properties, edited) };
}

interface RuleRowProps {
  readonly rule: ShownRule;
  /** Called with the button, to which the focus returns. */
  readonly edit: (button: HTMLElement) => void;
  readonly remove: () => void;
}

function RuleRow({ rule, edit, remove }: RuleRowProps) {
  const { id, matched, used, times, hasFunction } = rule;
  const left = times === undefined ? '' : `, ${Math.max(0, times - used)} left`;
  return html`<li class="row between key-row">
    <div class="grow"><strong class="break">${id}</strong> <span class="badge">${effectText(rule)}</span>${' '}
      <span class="hint">used for ${used} of ${matched} requests${left}</span>
      ${linesOf(rule).map((line) => html`<p class="hint break mono">${line}</p>`)}</div>
    <div class="row">
      ${!hasFunction && html`<button type="button" onClick=${({ currentTarget }: { readonly currentTarget: HTMLElement }) => edit(currentTarget)}>Edit<span class="hidden"> ${id}</span></button>`}
      <button type="button" class="danger" onClick=${remove}>Remove<span class="hidden"> ${id}</span></button>
    </div>
  </li>`;
}

/** What the rule does, in a few words: `503, then 200, reset`. */
function effectText({ respond = [], hasFunction, fail, delayMs, retryAfter, encoding }: ShownRule): string {
  const statuses = respond.slice(0, MOST_STATUSES).map(({ status }) => status);
  const isCut = respond.length > MOST_STATUSES;
  const effects = [
    hasFunction ? 'function' : statuses.join(', then ') + (isCut ? ', …' : ''),
    fail?.kind ?? '',
    delayMs === undefined ? '' : 'delay',
    retryAfter === undefined ? '' : 'Retry-After',
    encoding ?? '',
  ];
  return effects.filter((effect) => effect !== '').join(', ');
}

/** Its settings, and the beginning of its only body. */
function linesOf(rule: ShownRule): readonly string[] {
  const body = hasOneAnswer(rule) ? (rule.respond?.[0]?.body ?? '') : '';
  return [settingsText(rule), body.length > MOST_CHARACTERS ? `${body.slice(0, MOST_CHARACTERS)}…` : body].filter(
    (line) => line !== '',
  );
}

const MOST_STATUSES = 4;
const MOST_CHARACTERS = 160;
