import * as z from 'zod';
import { ADAPTER_NAMES, type AdapterName } from '../adapters/active-adapters.ts';
import { expected } from '../matching/checked-input.ts';
import { type RequestPattern, requestPatternShape } from '../matching/request-pattern.ts';

const whole = (least: number, what: string) =>
  expected(`a whole number of ${what} from ${least}`, (error) => z.int(error).min(least, error));
const milliseconds = expected('milliseconds from 0', (error) => z.number(error).min(0, error));
/** Length and encoding belong to the connection: a wrong one would be another fault. */
const HEADER_NAME = /^(?!content-length$|transfer-encoding$)[\w!#$%&'*+.^`|~-]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const headerValue = expected('the value of a header', (error) =>
  z.string(error).refine((value) => HEADER_VALUE.test(value), error),
);
/** Headers of an answer. */
export const headerRecord = expected(
  'an object of header names and values, without content-length and transfer-encoding',
  (error) =>
    z.record(
      z.string().refine((name) => HEADER_NAME.test(name)),
      z.string(error).refine((value) => HEADER_VALUE.test(value), error),
      error,
    ),
);
const several = <Schema extends z.ZodType>(words: string, one: Schema) =>
  expected(words, (error) => z.union([one, z.array(one).min(1, error)], error));

/** Which requests a fault is for; all of the emulated API by default, never the dashboard. */
export interface FaultMatch extends RequestPattern {
  /** The status that the service has decided on; for faults that strike after it. */
  readonly status?: number | undefined;
  /** Only requests of this adapter, or one of these. */
  readonly via?: AdapterName | readonly AdapterName[] | undefined;
}

const adapterNames = `some of ${ADAPTER_NAMES.join(', ')}`;

export const faultMatch = z.strictObject(
  {
    ...requestPatternShape,
    status: expected('an HTTP status', (error) => z.int(error)).optional(),
    via: several(adapterNames, z.enum(ADAPTER_NAMES, { error: adapterNames })).optional(),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'an object' : undefined) },
);

/** When a fault strikes; always, by default. What is given must all hold. */
export interface FaultConditions extends Immutable<Omit<z.input<typeof conditions>, 'match'>> {
  /** Which requests. Default: all of the emulated API. */
  readonly match?: FaultMatch | undefined;
}

const conditions = z.strictObject({
  /** Default: `fault_1`, `fault_2`, … */
  id: expected('letters, digits, _ . and -', (error) => z.string(error).regex(/^[\w.-]{1,64}$/, error)).optional(),
  match: faultMatch.describe('Which requests; all of the emulated API by default.').optional(),
  /** Which of the matching requests, counted from 1. */
  nth: several(
    'the number of a request, or several, counted from 1',
    z.int({ error: 'the number of a request, or several, counted from 1' }).min(1),
  ).optional(),
  /** How often at most. */
  times: whole(1, 'requests').optional(),
  /** From 0, never, to 1. The mock's seed decides, for each key by itself. */
  probability: expected('a number from 0 to 1', (error) => z.number(error).min(0, error).max(1, error)).optional(),
  /** How long the fault lives, by the mock's clock. */
  forMs: expected('milliseconds above 0', (error) => z.number(error).gt(0, error)).optional(),
  /**
   * `'after'` (default): the service has decided on the request and counted it, then the answer suffers. `'before'`:
   * the service never sees the request, or sees it late; nothing is counted.
   */
  strikes: expected("'before' or 'after'", (error) => z.enum(['before', 'after'], error)).optional(),
});

interface KindDefinition<Settings extends z.ZodRawShape> {
  readonly settings: Settings;
  /** The adapters behind which a client cannot tell the fault from a real one. */
  readonly adapters: readonly AdapterName[];
  /** What to do where it cannot be had. */
  readonly instead?: string;
  /** Whether it makes sense before the service has decided, when there is no answer yet. */
  readonly canStrikeBefore: boolean;
  /** Settings that the control panel begins with. */
  readonly example?: object;
}

function kind<const Name extends string, Settings extends z.ZodRawShape>(
  name: Name,
  { settings, example, ...rules }: KindDefinition<Settings>,
) {
  const effect = z.strictObject({ kind: z.literal(name), ...settings });
  const options: z.ZodObject = z.strictObject({ kind: z.literal(name), ...conditions.shape, ...settings });
  return { ...rules, effect, options: options.meta({ examples: [{ kind: name, ...example }] }) };
}

/** msw hands whole answers over: a body that breaks off arrives as a whole one that is too short. */
const WITH_CONNECTION: readonly AdapterName[] = ['fetch', 'undici', 'socket'];
const ANY_TIME = { adapters: ADAPTER_NAMES, canStrikeBefore: true };
const WITH_ANSWER = { adapters: ADAPTER_NAMES, canStrikeBefore: false };

/** Everything that can go wrong on purpose. What it does to an answer is in `apply-fault.ts`. */
export const faultKinds = {
  /** The request, or its answer, takes `latencyMs` longer, by the mock's clock. */
  latency: kind('latency', { ...ANY_TIME, settings: { latencyMs: milliseconds }, example: { latencyMs: 2000 } }),
  /** No answer, ever; the connection stays open until the client gives up or the mock is closed. */
  hang: kind('hang', { ...ANY_TIME, settings: {} }),
  /** Another answer: the error envelope with `code`, or `body` as it is. Default code: the status in words. */
  status: kind('status', {
    ...ANY_TIME,
    settings: {
      status: expected('an HTTP status from 200 to 599', (error) => z.int(error).min(200, error).max(599, error)),
      code: expected('a code such as maintenance', (error) => z.string(error).regex(/^\w{1,64}$/, error)).optional(),
      headers: headerRecord.optional(),
      body: expected('text', (error) => z.string(error)).optional(),
    },
    example: { status: 503 },
  }),
  /** No answer, and no word of why: what every adapter can do. */
  'network-error': kind('network-error', { ...ANY_TIME, settings: {} }),
  /** The connection is reset, ECONNRESET; after `afterBytes` of the body, or before anything was sent. */
  reset: kind('reset', {
    adapters: WITH_CONNECTION,
    instead: "Kind 'network-error' is what it can do",
    canStrikeBefore: true,
    settings: { afterBytes: whole(0, 'bytes').optional() },
    example: { afterBytes: 20 },
  }),
  /** The connection is closed in good order after `afterBytes` of the body, of which more was promised. */
  truncate: kind('truncate', {
    adapters: WITH_CONNECTION,
    instead: "Kind 'bad-json' sends half a body in whole",
    canStrikeBefore: false,
    settings: { afterBytes: whole(0, 'bytes') },
    example: { afterBytes: 20 },
  }),
  /** The body comes in pieces of `chunkBytes` (default: 1), `intervalMs` apart by the mock's clock. */
  dribble: kind('dribble', {
    ...WITH_ANSWER,
    settings: { chunkBytes: whole(1, 'bytes').optional(), intervalMs: milliseconds },
    example: { chunkBytes: 16, intervalMs: 100 },
  }),
  /** Chunked encoding that breaks after `afterBytes` of the body. Default: 0. */
  'malformed-chunk': kind('malformed-chunk', {
    adapters: ['socket'],
    instead: "Only a real connection has chunks: serve the mock with mock.serve(), or use kind 'bad-json'",
    canStrikeBefore: false,
    settings: { afterBytes: whole(0, 'bytes').optional() },
  }),
  /** An answer that is no HTTP. */
  garbage: kind('garbage', {
    adapters: ['socket'],
    instead: "Only a real connection carries what is no HTTP: serve the mock with mock.serve(), or use 'network-error'",
    canStrikeBefore: true,
    settings: {},
  }),
  /** The first half of the body, with the length that it then has. */
  'bad-json': kind('bad-json', { ...WITH_ANSWER, settings: {} }),
  /** The true body under another content type. Default: `'text/html'`. */
  'content-type': kind('content-type', {
    ...WITH_ANSWER,
    settings: { contentType: headerValue.optional() },
    example: { contentType: 'text/html' },
  }),
  /** Another Retry-After, as it is; left out: none. Strikes answers that carry one. */
  'retry-after': kind('retry-after', {
    ...WITH_ANSWER,
    settings: { retryAfter: headerValue.optional() },
    example: { retryAfter: '0' },
  }),
};

export type FaultKind = keyof typeof faultKinds;

export const FAULT_KINDS = Object.keys(faultKinds) as readonly FaultKind[];

/** All kinds as one schema, with `more` in each: the admin API and snapshots are described by it. */
export function faultUnion(more: z.ZodRawShape = {}) {
  const [first, ...others] = Object.values(faultKinds).map(({ options }) =>
    Object.keys(more).length === 0 ? options : options.extend(more),
  );
  if (first === undefined) throw new Error('There are no kinds of faults.');
  return z.discriminatedUnion('kind', [first, ...others]);
}

/** What goes wrong: a kind with its settings. */
export type FaultEffect = { [Kind in FaultKind]: Immutable<z.input<(typeof faultKinds)[Kind]['effect']>> }[FaultKind];

export type FaultOptions = FaultEffect & FaultConditions;

/** A fault as it stands. */
export type Fault = FaultOptions & {
  readonly id: string;
  readonly strikes: 'before' | 'after';
  /** Milliseconds since the Unix epoch, by the mock's clock. */
  readonly addedAt: number;
  /** How many requests it was for, and how many of these it struck. */
  readonly matched: number;
  readonly struck: number;
};

/** A fault as the mock keeps it. */
export interface FaultRecord {
  readonly settings: FaultOptions & Pick<Fault, 'id' | 'strikes'>;
  readonly addedAt: number;
  matched: number;
  struck: number;
  /** Matching requests by key id, `''` for requests without a known key. */
  readonly matchedByKey: Map<string, number>;
}

/** What a user gives or gets is not to be changed, down to the last list in it. */
type Immutable<Value> = Value extends object ? { readonly [Name in keyof Value]: Immutable<Value[Name]> } : Value;
