import { isLostInJson } from '../../foreign-values.ts';
import { isJson, isJsonObject, members, parseJson } from '../../json.ts';
import { readHeaders } from '../http/message.ts';
import { codeOfStatus, errorBody, reasonPhrase, STATUSES_WITHOUT_BODY, successBody } from '../http/responses.ts';
import { checkedInput, eachOf } from '../input/checked-input.ts';
import { checkLength, invalidOption, within } from '../input/mock-server-error.ts';
import { type Answer, type AnswerFunction, answerSchema, type SentAnswer } from './rule-schema.ts';

/**
 * The field `respond` of a rule, checked: its responses as they are sent, or its function. `json` is its text, whose numbers
 * keep their digits.
 */
export function preparedAnswers(respond: unknown, json = ''): readonly SentAnswer[] | AnswerFunction {
  if (typeof respond === 'function') {
    if (respond.constructor.name !== 'AsyncFunction') return respond as AnswerFunction;
    throw invalidOption('respond', respond, 'a function that is not async');
  }
  if (!Array.isArray(respond)) return [within('respond', () => preparedAnswer(respond, json))];
  if (respond.length === 0) throw invalidOption('respond', respond, 'a response, or several');
  checkLength('respond', respond, MOST_ANSWERS);
  const texts = Array.from(members(json), ({ text }) => text);
  return eachOf('respond', respond, (answer, index) => preparedAnswer(answer, texts[index]));
}

/** Of one rule. */
export const MOST_ANSWERS = 10_000;

/** A response as it is sent. Throws `MockServerError` with code `invalid_option`. */
export function preparedAnswer(given: unknown, json = ''): SentAnswer {
  if (!isJsonObject(given)) {
    throw invalidOption(WHOLE, given, 'an object with status, headers, data, error or body');
  }
  const answer = checkedInput(answerSchema, given, { what: 'a field of a response', whole: WHOLE });
  const { status = answer.error === undefined ? 200 : 400, headers } = answer;
  const body = bodyOf(answer, { status, json });
  const isPlainText = typeof answer.body === 'string' && body !== '' && !isJson(body);
  const own = headers === undefined ? {} : readHeaders(headers);
  return { status, body, headers: isPlainText ? { ...PLAIN_TEXT, ...own } : own };
}

const WHOLE = 'response';

/** The status of a response, and its text if it was JSON. */
interface AnswerText {
  readonly status: number;
  readonly json: string;
}

function bodyOf(given: Answer, { status, json }: AnswerText): string {
  const { data, error, body } = given;
  if ([data, error, body].filter((value) => value !== undefined).length > 1) {
    throw invalidOption(WHOLE, given, 'at most one of data, error and body');
  }
  if (STATUSES_WITHOUT_BODY.has(status)) {
    if (data === undefined && error === undefined && (body === undefined || body === '')) return '';
    throw invalidOption(WHOLE, given, `no data, error or body, because a response with status ${status} has none`);
  }
  if (body === undefined) return envelopeOf(given, { status, json });
  return typeof body === 'string' ? body : (memberText(json, 'body') ?? textOf('body', body));
}

function envelopeOf(given: Answer, { status, json }: AnswerText): string {
  const { data, error } = given;
  if (data !== undefined) return successBody(memberText(json, 'data') ?? textOf('data', data));
  if (error === undefined && status < 300) throw invalidOption(WHOLE, given, 'data, error or body');
  // A redirect is complete with its Location header.
  if (error === undefined && status < 400) return '';
  const { code = codeOfStatus(status), message = reasonPhrase(status) || 'Unknown' } = error ?? {};
  return errorBody({ status, code, message });
}

/** `error.code` of an error envelope, which the journal shows. */
export function codeIn(body: string): string | undefined {
  if (!body.includes('"error"')) return undefined; // parsing a large body takes long
  const { code } = Object(Object(parseJson(body)).error);
  return typeof code === 'string' ? code : undefined;
}

/** A value as JSON. Throws `MockServerError` if JSON cannot represent it. */
function textOf(field: string, value: unknown): string {
  const json = jsonOf(value);
  if (json === undefined) throw invalidOption(field, value, 'a string or a value that JSON can represent');
  return json;
}

/** The value of a member of the object that a JSON text is, as in the text; the last one of its name counts. */
export function memberText(json: string, name: string): string | undefined {
  return Array.from(members(json)).findLast((member) => member.name === name)?.text;
}

const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };

/** A value as JSON; `undefined` if JSON cannot represent it: it is cyclic, or JSON loses a part of it. */
function jsonOf(value: unknown): string | undefined {
  if (ArrayBuffer.isView(value)) return undefined; // a Buffer has a form in JSON, which is not its bytes
  try {
    return JSON.stringify(value, whole);
  } catch {
    return undefined;
  }
}

function whole(name: string, value: unknown): unknown {
  if (isLostInJson(value)) throw new TypeError(`JSON loses the value of ${name}.`);
  return value;
}
