import { type Answer, failure, success, toJson } from '../http/answer.ts';
import type { Responder } from '../http/responder.ts';
import { invalidOption } from '../mock-server-error.ts';

/**
 * Recorded answers of `latest`: one envelope (`{ success, data }`) for every query, or an object with one answer for
 * each query, as envelope or as data alone: `{ 'base=EUR': {…}, '': {…}, '*': {…} }`. The order of parameters does not
 * count; `*` answers every other query.
 */
export type Replay = Readonly<Record<string, unknown>>;

/** Answers what was recorded, and 501 `not_recorded` where nothing was. */
export function createReplay(replay: Replay): Responder {
  const answers = readReplay(replay);
  return ({ query }) => {
    const canonical = canonicalQuery(query);
    return answers.get(canonical) ?? answers.get(ANY) ?? notRecorded(canonical, answers);
  };
}

const ANY = '*';

function readReplay(replay: unknown): ReadonlyMap<string, Answer> {
  if (!isRecord(replay) || Object.keys(replay).length === 0) throw invalidOption('replay', replay, EXPECTED);
  if (isEnvelope(replay)) return new Map([[ANY, recordedAnswer('replay', replay)]]);
  const answers = new Map<string, Answer>();
  for (const [text, recorded] of Object.entries(replay)) {
    const query = text === ANY ? ANY : canonicalQuery(new URLSearchParams(text));
    if (answers.has(query)) throw invalidOption('replay', text, 'every query once, in any order of its parameters');
    answers.set(query, recordedAnswer(`replay[${JSON.stringify(text)}]`, recorded));
  }
  return answers;
}

const EXPECTED = "a recorded envelope, or an object of answers by query such as { 'base=EUR': … }";

function recordedAnswer(option: string, recorded: unknown): Answer {
  if (!isRecord(recorded)) throw invalidOption(option, recorded, 'an envelope or the data of one');
  if (!isEnvelope(recorded)) return success(recorded);
  if (recorded['success'] === true) return { ...success(undefined), body: toJson(recorded) };
  const { error } = recorded;
  const { code, message, status } = isRecord(error) ? error : {};
  if (typeof code !== 'string' || !Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) {
    throw invalidOption(`${option}.error`, error, 'a recorded error with its code, message and status');
  }
  const answer = failure({ code, message: String(message ?? ''), status: Number(status) });
  return { ...answer, body: toJson(recorded) };
}

function notRecorded(query: string, answers: ReadonlyMap<string, Answer>): Answer {
  const known = Array.from(answers.keys(), (text) => `'${text}'`).join(', ');
  return failure({
    status: 501,
    code: 'not_recorded',
    message: `No answer is recorded for the query '${query}'; there are ${known}.`,
  });
}

/** The parameters in the order of their names; `api_key` is no part of the question. */
function canonicalQuery(query: URLSearchParams): string {
  const sorted = new URLSearchParams(query);
  sorted.delete('api_key');
  sorted.sort();
  return sorted.toString();
}

function isEnvelope(value: Readonly<Record<string, unknown>>): boolean {
  return typeof value['success'] === 'boolean' && ('data' in value || 'error' in value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
