import * as z from 'zod';
import type { PlanName } from '../../generated/service.ts';
import {
  ADDED_FIELD,
  expected,
  headerRecord,
  type Immutable,
  idSchema,
  plainObject,
  responseStatus,
  strictObject,
  type ValueOf,
  wholeFrom,
} from '../input/checked-input.ts';
import { type RequestPattern, requestPattern } from '../matching/request-pattern.ts';
import { delaySchema } from './delay.ts';

const text = z.string('text');

const response = strictObject({
  /**
   * HTTP status, from 200 to 599.
   * @default 200; 400 with `error`
   */
  status: responseStatus.optional(),
  /**
   * Response headers. An array has several values: one `set-cookie` header each, or joined with commas. `content-length`,
   * `transfer-encoding` and `trailer` cannot be set.
   * @example { 'set-cookie': ['a=1', 'b=2; HttpOnly'] }
   */
  headers: headerRecord.optional(),
  /**
   * Delay of the response by the mock's clock: milliseconds, `{ min, max }`, or `{ median, sigma }` of a lognormal
   * distribution.
   * @default 0
   */
  delayMs: delaySchema.optional(),
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

/** A response of a stub. Set at most one of `data`, `error` and `body`. */
export interface StubResponse extends ValueOf<typeof response> {}

export const stubOptions = strictObject({
  /**
   * Id of the stub: up to 64 letters, digits, `_`, `.` and `-`. Replaces an existing stub with this id.
   * @default 'stub_1', 'stub_2', …
   */
  id: idSchema.optional(),
  match: requestPattern.optional(),
  ...response.shape,
  /**
   * Several responses, one per request; the last one repeats. Cannot be combined with the fields of a single response.
   * @default a single response, from the other fields
   * @example [{ status: 503 }, { data: { base: 'EUR', rates: {} } }]
   */
  responses: expected(
    'an array of responses with status, headers, data, error or body',
    z.array(response).min(1),
  ).optional(),
  /**
   * Maximum number of requests that receive it. The stub is ignored afterwards.
   * @default no maximum
   */
  times: wholeFrom(1, 'of requests').optional(),
  /**
   * Whole number. If several stubs match, the one with the highest priority applies, and not the one added last.
   * @default 0
   * @example -1 // only if no other stub matches
   */
  priority: expected('a whole number; the stub with the highest one applies', z.int()).optional(),
});

/** A stub: a pattern of requests, and the response to them. The requests are still authenticated, limited and counted. */
export interface StubOptions extends ValueOf<typeof stubOptions> {
  /**
   * Pattern of the requests that receive it.
   * @default every GET and HEAD of the emulated API
   */
  readonly match?: RequestPattern | undefined; // in the schema, its fields have no doc comments
}

/** A stub as JSON has it, new or read. */
export const stubInput = stubOptions
  .extend({ kind: ADDED_FIELD, served: ADDED_FIELD })
  .meta({ examples: [{ match: { operation: 'latest' }, data: { base: 'EUR', rates: { USD: 1.1 } } }] });

const sentResponse = strictObject({
  /** HTTP status. */
  status: responseStatus,
  /** Headers by name in lower case; an array for `set-cookie`. */
  headers: headerRecord.describe('Names in lower case, an array for `set-cookie`.'),
  /** The complete body. */
  body: z.string(),
  /** Delay of the response by the mock's clock; `undefined` for none. */
  delayMs: delaySchema.optional(),
});

/** A response of a stub, as it is sent. */
export interface SentResponse extends ValueOf<typeof sentResponse> {}

const stubbedResponse = sentResponse.extend({
  code: z.string().optional().describe('`error.code` of the response, for the journal.'),
});

/** A response of a stub as the mock keeps it. */
export type StubbedResponse = Immutable<z.output<typeof stubbedResponse>>;

export const addedStub = plainObject({
  /** Id of the stub, for example `stub_1`. */
  id: z.string(),
  /** Pattern of the requests that receive it. */
  match: requestPattern,
  /** Number of requests that received it so far. */
  served: z.int().min(0).describe('Number of requests that received it.'),
  /** Maximum number of requests that receive it; `undefined` for no maximum. */
  times: z.int().optional().describe('Maximum number of requests that receive it.'),
  /** Of several stubs that match, the one with the highest number applies. */
  priority: z.int(),
  /** Source of the responses: the field `responses`, a recording (`'replay'`), or a function of the test. */
  kind: z.enum(['responses', 'replay', 'function']),
  /** The responses of a stub of kind `responses`; empty otherwise. */
  responses: z.array(sentResponse),
});

/** A stub that was added. `add()` accepts it again if it is of kind `responses`. */
export interface Stub extends ValueOf<typeof addedStub> {}

/** A stub of a snapshot, which has no function. */
export const savedStub = z.strictObject({
  ...addedStub.omit({ kind: true, responses: true }).shape,
  source: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('responses'), responses: z.array(stubbedResponse).min(1) }),
    z.strictObject({ kind: z.literal('replay'), recorded: z.record(z.string(), stubbedResponse) }),
  ]),
});

export type SavedStub = Immutable<z.output<typeof savedStub>>;

/** Where the responses of a stub come from: one per request, by query as recorded, or a function of the test. */
export type StubSource = SavedStub['source'] | { readonly kind: 'function'; readonly latest: LatestFunction };

/** A stub as the mock keeps it. */
export interface StubRecord extends Omit<SavedStub, 'source' | 'served'> {
  readonly source: StubSource;
  served: number;
}

/** Returns the `data` of `latest` for a request within both limits. It must not be async; a promise causes a 500. */
export type LatestFunction = (query: URLSearchParams, context: LatestContext) => object;

/** The request for which a `latest` function returns data. */
export interface LatestContext {
  /** Time of the request, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Id of the key. */
  readonly keyId: string;
  /** Plan of the key's account. */
  readonly plan: PlanName;
  /** Returns the invented data that the mock would return otherwise. */
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
