import { isJson } from '../../../json.ts';
import type { Rule, SentAnswer } from '../../rules/rule-schema.ts';

/** The JSON schema of a field, as far as forms read it. */
export interface FieldSchema {
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly readOnly?: boolean;
  readonly properties?: FieldSchemas;
  /** Whether it has a large field although its type needs none. */
  readonly isLong?: boolean;
}

export type FieldSchemas = Readonly<Record<string, FieldSchema>>;

/** Texts in the fields of a form, by the path of the field: `match.path`. */
export type FormInput = Readonly<Record<string, string>>;

/** Settings as texts of a form. */
export function inputOf(settings: object, fields: FieldSchemas, prefix = ''): FormInput {
  const texts = Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    const field = fields[name] ?? {};
    if (value === undefined) return [];
    if (field.properties !== undefined) return Object.entries(inputOf(value, field.properties, `${prefix}${name}.`));
    return [[prefix + name, inputText(value, field)]];
  });
  return Object.fromEntries(texts);
}

function inputText(value: unknown, field: FieldSchema): string {
  return typeof value === 'string' && isPlainText(value, field) ? value : JSON.stringify(value);
}

/** JSON texts by the name of the field. Parsed numbers would lose digits. */
export type JsonFields = Readonly<Record<string, string>>;

/** The texts of a form as JSON, as they were typed, without empty fields. The mock checks the values. */
export function settingsIn(input: FormInput, fields: FieldSchemas, prefix = ''): JsonFields {
  const settings = Object.entries(fields).flatMap(([name, field]): [string, string][] => {
    if (field.properties !== undefined) {
      const inner = settingsIn(input, field.properties, `${prefix}${name}.`);
      return Object.keys(inner).length === 0 ? [] : [[name, jsonObject(inner)]];
    }
    const typed = input[prefix + name] ?? '';
    return typed.trim() === '' ? [] : [[name, jsonText(typed, field)]];
  });
  return Object.fromEntries(settings);
}

export function jsonObject(fields: JsonFields): string {
  return `{${Object.entries(fields).map(([name, text]) => `${JSON.stringify(name)}:${text}`)}}`;
}

function jsonText(typed: string, field: FieldSchema): string {
  const text = isLong(field) ? typed : typed.trim();
  if (isNumber(field)) return JSON.stringify(Number(text)); // a field for numbers also accepts .5 and +1
  return isPlainText(text, field) ? JSON.stringify(text) : text;
}

/** Whether a text means itself, not the JSON in it. A field for text and objects accepts `a`, `"a"` and `{ "absent": true }`. */
function isPlainText(text: string, field: FieldSchema): boolean {
  return field.type === 'string' || (acceptsText(field) && !/^\s*[{["]/.test(text));
}

function acceptsText({ type, anyOf = [] }: FieldSchema): boolean {
  return type === 'string' || anyOf.some(acceptsText);
}

/** The message about a text that must be JSON and is not. */
export function jsonProblem(text: string, field: FieldSchema): string | undefined {
  if (text.trim() === '' || isNumber(field) || isPlainText(text, field)) return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `Not JSON: ${error instanceof Error ? error.message : error}. Text needs double quotes.`;
  }
}

export function isNumber({ type }: FieldSchema): boolean {
  return type === 'integer' || type === 'number';
}

/** Whether a value can need more than one line: any JSON, or a list. */
export function isLong({ type, anyOf, isLong = false }: FieldSchema): boolean {
  return isLong || type === 'array' || (type === undefined && anyOf === undefined);
}

/** A rule as JSON has it: without a function. */
export type ShownRule = Omit<Rule, 'respond'> & { readonly respond?: readonly SentAnswer[] | undefined };

/** The fields of a rule. Those of its response are fields of their own, unless it has several responses. */
export function ruleFields(fields: FieldSchemas, rule?: ShownRule): FieldSchemas {
  const { respond: { anyOf: [answer] = [], description = '' } = {} } = fields;
  const { body, ...others } = answer?.properties ?? {};
  if (rule?.respond !== undefined && !hasOneAnswer(rule)) return { ...fields, respond: { description } };
  // The body is sent as it was typed, whether or not it is JSON.
  return { ...fields, respond: { properties: { ...others, body: { ...body, type: 'string', isLong: true } } } };
}

/** Whether the form can show the response in fields. A form omits an empty body, which then is no response. */
export function hasOneAnswer({ respond = [] }: ShownRule): boolean {
  const [only, ...others] = respond;
  return only !== undefined && others.length === 0 && only.body.trim() !== '';
}

/** Whether a rule is still the one that was read, which requests may have used since. */
export function isSameRule(rule: ShownRule, read: ShownRule): boolean {
  const { matched, used } = rule;
  return JSON.stringify(rule) === JSON.stringify({ ...read, matched, used });
}

/** The settings of a rule besides its response, in one line, with strings as they are: `match:{path:/a}, times:2`. */
export function settingsText(rule: ShownRule): string {
  const { id: _, addedAt: __, matched: ___, used: ____, hasFunction: _____, respond: ______, ...others } = rule;
  const { counted, ...settings } = others;
  const json = JSON.stringify({ ...settings, ...(counted ? {} : { counted }) });
  const shown = json.replace(/"(?:[^"\\]|\\.)*"|,/g, (token) => (token === ',' ? ', ' : JSON.parse(token)));
  return shown.slice(1, -1);
}

/** A rule as texts of a form with `ruleFields` that would add an equal one. */
export function formInputOf(rule: ShownRule, fields: FieldSchemas): FormInput {
  const { addedAt: _, matched: __, used: ___, hasFunction: ____, respond, counted, ...settings } = rule;
  const answers = respond?.map(({ headers, ...answer }) => ({
    ...answer,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
  }));
  const isOne = hasOneAnswer(rule);
  const given = { ...settings, counted: counted ? undefined : counted, respond: isOne ? answers?.[0] : answers };
  const input = inputOf(given, fields);
  const { operation, path } = rule.match ?? {};
  // The mock adds the operation `latest` to a rule with `data` that has neither.
  const isOnLatest = operation !== undefined || path !== undefined;
  const data = isOne && isOnLatest ? dataIn(respond?.[0]?.body ?? '') : undefined;
  return data === undefined ? input : { ...input, 'respond.body': '', 'respond.data': data };
}

/** The JSON text in a success envelope as the mock writes it: parsed numbers would lose digits. */
function dataIn(body: string): string | undefined {
  const [, data] = /^\{"success":true,"data":(.*)\}$/s.exec(body) ?? [];
  return data !== undefined && data === data.trim() && isJson(data) ? data : undefined;
}
