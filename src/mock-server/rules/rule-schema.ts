import * as z from 'zod';
import {
  ADDED_FIELD,
  expected,
  headerInput,
  headerRecord,
  headerValue,
  type Immutable,
  idSchema,
  responseStatus,
  strictObject,
  trueOrFalse,
  type ValueOf,
  wholeFrom,
} from '../input/checked-input.ts';
import { type RecordedRequest, type RequestPattern, requestPattern } from '../matching/request-pattern.ts';
import type { ServiceState } from '../service/service-state.ts';
import { type Failure, failure } from './failures.ts';

const milliseconds = expected('whole milliseconds from 0', z.int().min(0));
const several = <Schema extends z.ZodType>(words: string, one: Schema) =>
  expected(words, z.union([one, z.array(one).min(1, words)]));

const DELAY_WORDS = 'whole milliseconds from 0, or { "min": 50, "max": 150 }';
const delaySchema = expected(
  DELAY_WORDS,
  z.union([
    z.int(DELAY_WORDS).min(0),
    z.strictObject({ min: z.int(DELAY_WORDS).min(0), max: z.int() }, DELAY_WORDS).refine(({ min, max }) => min <= max),
  ]),
);

/**
 * A delay by the mock's clock: whole milliseconds, or `{ min, max }`, both included, with equal probability.
 * The seed of the mock determines the drawn values.
 * @example { min: 50, max: 150 }
 */
export type Delay = Immutable<z.output<typeof delaySchema>>;

const ruleMatch = strictObject({
  ...requestPattern.shape,
  /** Status of the response. A rule with it changes the delivery of responses, and cannot have `respond`. */
  status: expected('an HTTP status', z.int()).optional(),
  /** `error.code` of the response, with the same effect as `status`. */
  code: expected('an error code such as rate_limited', z.string()).optional(),
});

/** Pattern of the requests that a rule is for. */
export interface RuleMatch extends RequestPattern, ValueOf<typeof ruleMatch> {}

const text = z.string('text');

export const answerSchema = strictObject({
  /**
   * HTTP status, from 200 to 599.
   * @default 200; 400 with `error`
   */
  status: responseStatus.optional(),
  /**
   * Response headers: text or whole numbers. An array has several values: one `set-cookie` header each, or joined with commas.
   * `content-length`, `transfer-encoding` and `trailer` cannot be set.
   * @example { 'set-cookie': ['a=1', 'b=2; HttpOnly'] }
   */
  headers: headerInput.optional(),
  /** Sent as `{ success: true, data }`. */
  data: z.unknown().optional().describe('Sent as `{ "success": true, "data": … }`.'),
  /**
   * Sent as `{ success: false, error: { code, message, status } }`.
   * @example { code: 'unknown_currency', message: 'There is no XXX.' }
   */
  error: expected(
    'an object with code and message',
    z.strictObject({ code: text, message: text.optional() }),
  ).optional(),
  /** The complete body: a string is sent unchanged, any other value as JSON. Binary bodies are not possible. */
  body: z.unknown().optional().describe('The complete body: a string is sent unchanged, any other value as JSON.'),
});

/** The response of a rule. Set at most one of `data`, `error` and `body`. A status from 400 alone gets the error envelope. */
export interface Answer extends ValueOf<typeof answerSchema> {}

/**
 * Returns the response to a request, synchronously. A function that throws or returns something else than an answer causes
 * a 500 with the reason.
 */
export type AnswerFunction = (request: RuleRequest, context: AnswerContext) => Answer;

/** The request for which a function returns the response. API keys are masked. */
export interface RuleRequest extends RecordedRequest {
  /** Time of the request, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Id of the operation at the path; `undefined` if the path has none. */
  readonly operation: string | undefined;
  /** Id of the key; `undefined` without a known key. */
  readonly keyId: string | undefined;
}

/** What a function can use for its response. */
export interface AnswerContext {
  /** Returns the invented data of `latest` for this query, which the mock would return otherwise. */
  invented(): InventedData;
}

/** The `data` of an invented response. */
export interface InventedData {
  /** Base currency, for example `EUR`. */
  readonly base: string;
  /** Time of the snapshot, ISO 8601 in UTC. */
  readonly timestamp: string;
  /** A note that the rates are invented. */
  readonly source: string;
  /** Units of each currency for one unit of the base. */
  readonly rates: Readonly<Record<string, number>>;
}

const POSITIONS = 'the position of a request, counted from 1, or several positions such as [1, 3]';

export const ruleOptions = strictObject({
  /**
   * Id of the rule: up to 64 letters, digits, `_`, `.` and `-`. Replaces an existing rule with this id, in its place.
   * @default 'rule_1', 'rule_2', …
   */
  id: idSchema
    .refine((id) => id !== 'verify', { error: 'an id other than verify, a route of the admin API' })
    .optional(),
  match: ruleMatch.optional(),
  /**
   * Position of the request among the matching ones, from 1, or several positions.
   * @default every matching request
   * @example [1, 3]
   */
  nth: several(POSITIONS, z.int(POSITIONS).min(1)).optional(),
  /**
   * Maximum number of requests for which the rule does something.
   * @default no maximum
   */
  times: wholeFrom(1, 'of requests').optional(),
  /**
   * Probability from 0 to 1 that the rule applies to a matching request. The seed of the mock determines the outcome, for each
   * key separately.
   * @default 1
   */
  probability: expected('a number from 0 to 1', z.number().min(0).max(1)).optional(),
  /**
   * Milliseconds from now until the rule begins, by the mock's clock.
   * @default 0
   */
  afterMs: milliseconds.optional(),
  /**
   * Milliseconds from its beginning until the rule ends, by the mock's clock.
   * @default until it is removed
   */
  forMs: expected('whole milliseconds from 1', z.int().min(1)).optional(),
  /**
   * Whether the service receives the request, and authenticates, limits and charges it. With `false`, the network responds
   * or fails in its place.
   * @default true
   */
  counted: trueOrFalse.optional(),
  /**
   * The response: one, or several in turn, of which the last one repeats; in process, also a function. With `counted: true`,
   * it replaces only what the service would have served, not its own errors.
   * @example { status: 422, error: { code: 'unknown_currency' } }
   */
  respond: z.custom<Answer | readonly Answer[] | AnswerFunction>().optional(),
  /** Delay of the response: milliseconds, or `{ min, max }`. */
  delayMs: delaySchema.optional(),
  /**
   * `Retry-After` of error responses: the value to send, or `{ absent: true }` to remove the header.
   * @example 7
   */
  retryAfter: expected(
    'a whole number, text such as "7", or { "absent": true }',
    z.union([headerValue, z.strictObject({ absent: z.literal(true) })]),
  ).optional(),
  /** Content coding in which the body is sent. */
  encoding: expected("'gzip', 'deflate' or 'br'", z.enum(['gzip', 'deflate', 'br'])).optional(),
  fail: failure.optional(),
});

/** A rule: which requests, when, and what happens. All conditions that are set must hold. */
export interface RuleOptions extends ValueOf<typeof ruleOptions> {
  /**
   * Pattern of the requests that the rule is for.
   * @default all requests of the emulated API; for `respond` with `counted: true`, GET and HEAD; for `respond` with `data`, those of `latest`
   */
  readonly match?: RuleMatch | undefined; // in the schema, its fields have no doc comments
  /** How the connection or the body fails. Applies to every response. */
  readonly fail?: Failure | undefined;
}

/** What a rule can do. */
export const EFFECTS = ['respond', 'delayMs', 'retryAfter', 'encoding', 'fail'] as const;

const sentAnswer = strictObject({
  /** HTTP status. */
  status: responseStatus,
  /** Headers by name in lower case; an array for `set-cookie`. */
  headers: headerRecord.describe('Names in lower case, an array for `set-cookie`.'),
  /** The complete body. */
  body: z.string(),
});

/** A response of a rule, as it is sent. */
export interface SentAnswer extends ValueOf<typeof sentAnswer> {}

const addedFields = strictObject({
  /** Time at which the rule was added, in milliseconds since the Unix epoch, by the mock's clock. */
  addedAt: z.number().describe('Milliseconds since the Unix epoch, by the clock of the mock.'),
  /** Number of requests that matched so far, whether the rule applied or not. */
  matched: z.int().min(0).describe('Number of requests that matched, whether the rule applied or not.'),
  /** Number of requests for which the rule did something. */
  used: z.int().min(0).describe('Number of requests for which the rule did something.'),
  /** Whether `respond` is a function, which JSON does not contain. */
  hasFunction: z.boolean().describe('Whether a function of the test creates the response.'),
});

/** A rule as the mock returns it. */
export const addedRule = ruleOptions.extend({
  id: z.string(),
  match: ruleMatch,
  counted: z.boolean(),
  respond: z.array(sentAnswer).optional(),
  ...addedFields.shape,
});

/** A rule as JSON has it, new or read. */
export const ruleInput = ruleOptions
  .extend({
    respond: z
      .union([answerSchema, z.array(answerSchema).min(1)])
      .optional()
      .describe('The response, or several in turn; the last one repeats.'),
    addedAt: ADDED_FIELD,
    matched: ADDED_FIELD,
    used: ADDED_FIELD,
    hasFunction: ADDED_FIELD,
  })
  .meta({
    examples: [{ match: { query: { base: 'EUR' } }, respond: { data: { base: 'EUR', rates: { USD: 1.1 } } } }],
  });

/** A rule of a snapshot. A function is not part of it. */
export const savedRule = addedRule.extend({ matchedByKey: z.record(z.string(), z.int().min(0)) });

/** A rule that was added. `add()` accepts it again. */
export interface Rule extends Omit<RuleOptions, 'respond'>, ValueOf<typeof addedFields> {
  /** Id of the rule, for example `rule_1`. */
  readonly id: string;
  /** Pattern of the requests that the rule is for. */
  readonly match: RuleMatch;
  /** Whether the service receives the request. */
  readonly counted: boolean;
  /** The responses as they are sent, or the function of the test. */
  readonly respond?: readonly SentAnswer[] | AnswerFunction | undefined;
}

/** The state of a mock: that of its service, and its rules. */
export interface RuleState extends ServiceState {
  /** Of those that match a request, the last one counts. */
  rules: readonly RuleRecord[];
  /** How many rules were added so far, also those with an id of their own. Names the next one without an id. */
  lastRule: number;
  /** The ids of all rules so far, also of removed ones, so that a filter with another id is a mistake. */
  ruleIds: Set<string>;
}

/** A rule as the mock keeps it. */
export interface RuleRecord extends Rule {
  matched: number;
  used: number;
  /** Matching requests by key id, `''` for requests without a known key. */
  readonly matchedByKey: Record<string, number>;
}

/** A rule in a snapshot: without its function. */
export interface SavedRule extends Omit<Rule, 'respond'> {
  /** The responses as they are sent. */
  readonly respond?: readonly SentAnswer[] | undefined;
  /** Matching requests by key id, `''` for requests without a known key. */
  readonly matchedByKey: Readonly<Record<string, number>>;
}
