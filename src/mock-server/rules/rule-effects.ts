import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { isPromise } from '../../foreign-values.ts';
import { redactKeys } from '../../redactor.ts';
import type { MockResponse } from '../http/message.ts';
import { errorResponse } from '../http/responses.ts';
import { thrownText } from '../input/mock-server-error.ts';
import { codeIn, preparedAnswer } from './answers.ts';
import type { AppliedRule, AppliedRules } from './applied-rules.ts';
import { FAILURES, withHeader } from './failures.ts';
import type { AnswerContext, AnswerFunction, RuleOptions, RuleRequest, SentAnswer } from './rule-schema.ts';

interface AnsweredRequest {
  readonly request: RuleRequest;
  readonly context: AnswerContext;
}

/** The response of a rule, which counts as used. */
export function answerOf(
  found: AppliedRule,
  applied: AppliedRules,
  { request, context }: AnsweredRequest,
): MockResponse {
  const { respond = [], id } = found.rule;
  const index = applied.use(found);
  const why = `response of ${id}`;
  const answer: CalledAnswer | undefined =
    typeof respond === 'function'
      ? callAnswer(respond, request, context)
      : respond[Math.min(index, respond.length - 1)];
  if (answer === undefined) throw new Error(`Rule ${id} has no response.`);
  const { status, headers, body, failure } = answer;
  return { status, headers, body, code: codeIn(body), why: failure === undefined ? why : `${why}: ${failure}` };
}

interface CalledAnswer extends SentAnswer {
  /** Why the function has no answer. */
  readonly failure?: string;
}

function callAnswer(create: AnswerFunction, request: RuleRequest, context: AnswerContext): CalledAnswer {
  let answer: unknown;
  try {
    answer = create(request, context);
  } catch (error) {
    return failedFunction(`threw ${thrownText(error)}`);
  }
  if (isPromise(answer)) {
    answer.catch(() => undefined); // its rejection would end the process
    return failedFunction('returned a promise; expected a response, returned synchronously');
  }
  try {
    return preparedAnswer(answer);
  } catch (error) {
    return failedFunction(`returned a wrong response: ${error instanceof Error ? error.message : error}`);
  }
}

/** The response shows why the function failed, because the test wrote it. */
function failedFunction(what: string): CalledAnswer {
  const message = redactKeys(`The function of the rule ${what}.`.replace(/\.\.$/, '.'));
  const { status, body, headers } = errorResponse({ status: 500, code: 'internal_error', message });
  return { status, body: String(body), headers, failure: message };
}

/** The response with the delays, headers, coding and failures of the rules. Its reason names them. */
export function withEffects(response: MockResponse, applied: AppliedRules, at: number): MockResponse {
  const atArrival = applied.of('fail');
  applied.addResponse(response);
  let changed = changeRetryAfter(response, applied);
  changed = encode(changed, applied);
  if (applied.isHead) changed = { ...changed, body: '', text: undefined };
  // A failure in place of the service is certain before there is a response.
  const failing = atArrival?.rule.counted === false ? atArrival : applied.of('fail');
  // A request that hangs gets no response that could be delayed.
  if (failing?.rule.fail?.kind !== 'hang') changed = delayed(changed, applied);
  return failing === undefined ? changed : failed(changed, applied, { failing, at });
}

function withReason(response: MockResponse, { rule }: AppliedRule, what: string): MockResponse {
  const text = `${rule.id}: ${what}`;
  return { ...response, why: response.why === '' ? text : `${response.why}; ${text}` };
}

/** Only errors have a Retry-After that clients obey. */
function changeRetryAfter(response: MockResponse, applied: AppliedRules): MockResponse {
  const found = applied.of('retryAfter');
  if (found === undefined || response.status < 400) return response;
  const { retryAfter } = found.rule;
  const value = typeof retryAfter === 'object' ? undefined : String(retryAfter);
  if (value === undefined && response.headers['retry-after'] === undefined) return response;
  applied.use(found);
  const what = value === undefined ? 'without Retry-After' : `Retry-After ${value}`;
  return withReason(withHeader(response, 'retry-after', value), found, what);
}

/** The length of the body changes, and its text stays for the journal. */
function encode(response: MockResponse, applied: AppliedRules): MockResponse {
  const found = applied.of('encoding');
  const encoding = found?.rule.encoding;
  if (found === undefined || encoding === undefined || response.body.length === 0) return response;
  applied.use(found);
  const body = ENCODERS[encoding](response.body);
  const headers = { ...response.headers, 'content-encoding': encoding, 'content-length': String(body.length) };
  return withReason({ ...response, headers, body, text: String(response.body) }, found, encoding);
}

const ENCODERS: Readonly<Record<NonNullable<RuleOptions['encoding']>, (body: string | Uint8Array) => Uint8Array>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

function delayed(response: MockResponse, applied: AppliedRules): MockResponse {
  const found = applied.of('delayMs');
  if (found === undefined) return response;
  applied.use(found);
  const { delayMs: delay = 0 } = found.rule;
  const delayMs =
    typeof delay === 'number'
      ? delay
      : delay.min + Math.floor(applied.draw('delay', found) * (delay.max - delay.min + 1));
  return { ...withReason(response, found, `${delayMs} ms late`), delayMs };
}

interface Failing {
  readonly failing: AppliedRule;
  readonly at: number;
}

/** A failure of the body needs a body; the others apply to every response. */
function failed(response: MockResponse, applied: AppliedRules, { failing, at }: Failing): MockResponse {
  const { fail, id } = failing.rule;
  if (fail === undefined) return response;
  const { describe, apply, needsBody = false } = FAILURES[fail.kind];
  if (needsBody && response.body.length === 0) return response;
  applied.use(failing);
  const details = { ...fail, leftMs: applied.leftMs(failing, at) };
  const changed = withReason(apply(response, details), failing, describe(details));
  return fail.kind === 'hang' ? { ...changed, hangingBy: id } : changed;
}
