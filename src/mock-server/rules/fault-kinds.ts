import * as z from 'zod';
import { ADAPTER_NAMES, type AdapterName } from '../http/message.ts';
import {
  ADDED_FIELD,
  expected,
  headerRecord,
  headerValue,
  idSchema,
  responseStatus,
  strictObject,
  type ValueOf,
  wholeFrom,
} from '../input/checked-input.ts';
import { type RequestPattern, requestPattern } from '../matching/request-pattern.ts';
import { delaySchema } from './delay.ts';

const milliseconds = expected('milliseconds from 0', z.number().min(0));
const several = <Schema extends z.ZodType>(words: string, one: Schema) =>
  expected(words, z.union([one, z.array(one).min(1, words)]));

const adapterNames = `some of ${ADAPTER_NAMES.join(', ')}`;
const POSITIONS = 'the position of a request, counted from 1, or several positions';

const faultMatch = strictObject({
  ...requestPattern.shape,
  /** Status of the service's response. Only with `strikes: 'after'`. */
  status: expected('an HTTP status', z.int()).optional(),
  /** Adapter through which the request arrived, or several adapters. */
  via: several(adapterNames, z.enum(ADAPTER_NAMES, adapterNames)).optional(),
});

/** Pattern of the requests that a fault strikes. */
export interface FaultMatch extends RequestPattern, ValueOf<typeof faultMatch> {}

/** Which requests a fault strikes, and when. All conditions that are set must hold; by default every request is struck. */
export interface FaultConditions extends ValueOf<typeof conditions> {
  /**
   * Pattern of the requests to strike.
   * @default all requests of the emulated API
   */
  readonly match?: FaultMatch | undefined; // in the schema, its fields have no doc comments
}

const conditions = strictObject({
  /**
   * Id of the fault: up to 64 letters, digits, `_`, `.` and `-`. Replaces an existing fault with this id; the requests that
   * it blocks end without a response.
   * @default 'fault_1', 'fault_2', …
   */
  id: idSchema.optional(),
  match: faultMatch.describe('Requests to strike; by default all requests of the emulated API.').optional(),
  /**
   * Position of the request to strike among the matching ones, from 1, or several positions.
   * @default every matching request
   * @example [1, 3]
   */
  nth: several(POSITIONS, z.int(POSITIONS).min(1)).optional(),
  /**
   * Maximum number of requests to strike.
   * @default no maximum
   */
  times: wholeFrom(1, 'of requests').optional(),
  /**
   * Probability from 0 to 1 that a matching request is struck. The seed of the mock determines the outcome, for each key
   * separately.
   * @default 1
   */
  probability: expected('a number from 0 to 1', z.number().min(0).max(1)).optional(),
  /**
   * Lifetime of the fault in milliseconds, by the mock's clock.
   * @default until it is removed
   */
  forMs: expected('milliseconds above 0', z.number().gt(0)).optional(),
  /**
   * With `'after'`, the service counts the request and responds; then the fault changes the response. With `'before'`, the
   * service never receives the request; a `latency` fault delays it instead.
   * @default 'after'
   */
  strikes: expected("'before' or 'after'", z.enum(['before', 'after'])).optional(),
});

interface KindDefinition<Settings extends z.ZodRawShape> {
  readonly settings: Settings;
  /** The adapters that reproduce the fault as a real network does. */
  readonly adapters: readonly AdapterName[];
  /** The alternative for adapters that cannot reproduce it. */
  readonly instead?: string;
  /** Whether it can strike before the response of the service. */
  readonly canStrikeBefore: boolean;
  /** Initial settings in the form of the control panel. */
  readonly example?: object;
}

function kind<const Name extends string, Settings extends z.ZodRawShape>(
  name: Name,
  { settings, example, ...rules }: KindDefinition<Settings>,
) {
  const effect = strictObject({ kind: z.literal(name), ...settings });
  const options: z.ZodObject = z.strictObject({ kind: z.literal(name), ...conditions.shape, ...settings });
  return { ...rules, effect, options, example: { kind: name, ...example } };
}

/** msw delivers complete responses only: a truncated body would arrive as a shorter complete one. */
const WITH_CONNECTION: readonly AdapterName[] = ['fetch', 'socket'];
const ANY_TIME = { adapters: ADAPTER_NAMES, canStrikeBefore: true };
const FOR_RESPONSES = { adapters: ADAPTER_NAMES, canStrikeBefore: false };

/** All kinds of faults and their settings. `applyFaults` applies them to responses. */
export const faultKinds = {
  /** Delays the response. */
  latency: kind('latency', {
    ...ANY_TIME,
    settings: {
      /** Delay by the mock's clock: milliseconds, `{ min, max }`, or `{ median, sigma }` of a lognormal distribution. */
      latencyMs: delaySchema,
    },
    example: { latencyMs: 2000 },
  }),
  /** Never responds. The connection stays open until the client aborts, the fault ends, or the mock is closed or reset. */
  hang: kind('hang', { ...ANY_TIME, settings: {} }),
  /** Replaces the response. */
  status: kind('status', {
    ...ANY_TIME,
    settings: {
      /** Status of the response, from 200 to 599. */
      status: responseStatus,
      /**
       * `error.code` of the response.
       * @default derived from the status, for example `service_unavailable`
       */
      code: expected('a code such as maintenance', z.string().regex(/^\w{1,64}$/)).optional(),
      /** Additional headers of the response. An array has several values, for example of `set-cookie`. */
      headers: headerRecord.optional(),
      /**
       * The complete body, sent unchanged. Without a header `content-type`, JSON is sent as `application/json`, other text
       * as `text/html`.
       * @default the error envelope
       */
      body: expected('text', z.string()).optional(),
    },
    example: { status: 503 },
  }),
  /** Fails the request without a response. Works with every adapter. */
  'network-error': kind('network-error', { ...ANY_TIME, settings: {} }),
  /** Resets the connection (ECONNRESET). */
  reset: kind('reset', {
    adapters: WITH_CONNECTION,
    instead: "Use kind 'network-error'",
    canStrikeBefore: true,
    settings: {
      /**
       * Number of bytes of the body to send before the reset. At least the last byte is not sent.
       * @default nothing is sent, not even the headers
       */
      afterBytes: wholeFrom(0, 'of bytes').optional(),
    },
    example: { afterBytes: 20 },
  }),
  /** Closes the connection in the middle of the body; Content-Length announces the complete body. */
  truncate: kind('truncate', {
    adapters: WITH_CONNECTION,
    instead: "Use kind 'bad-json', which sends half of the body",
    canStrikeBefore: false,
    settings: {
      /** Number of bytes of the body to send. At least the last byte is not sent. */
      afterBytes: wholeFrom(0, 'of bytes'),
    },
    example: { afterBytes: 20 },
  }),
  /** Sends the body slowly, in pieces. */
  dribble: kind('dribble', {
    ...FOR_RESPONSES,
    settings: {
      /**
       * Size of a piece in bytes.
       * @default 1
       */
      chunkBytes: wholeFrom(1, 'of bytes').optional(),
      /** Milliseconds between two pieces, by the mock's clock. */
      intervalMs: milliseconds,
    },
    example: { chunkBytes: 16, intervalMs: 100 },
  }),
  /** Sends the body with chunked encoding, and an invalid chunk in it. */
  'malformed-chunk': kind('malformed-chunk', {
    adapters: ['socket'],
    instead: "Chunks exist only on a socket: serve the mock with mock.serve(), or use kind 'bad-json'",
    canStrikeBefore: false,
    settings: {
      /**
       * Number of bytes of the body to send before the invalid chunk.
       * @default 0
       */
      afterBytes: wholeFrom(0, 'of bytes').optional(),
    },
  }),
  /** Sends bytes that are not HTTP. */
  garbage: kind('garbage', {
    adapters: ['socket'],
    instead: "Only a socket can send bytes that are not HTTP: serve the mock with mock.serve(), or use 'network-error'",
    canStrikeBefore: true,
    settings: {},
  }),
  /** Sends only the first half of the body, with a matching Content-Length. */
  'bad-json': kind('bad-json', { ...FOR_RESPONSES, settings: {} }),
  /** Sends the body with another content type. */
  'content-type': kind('content-type', {
    ...FOR_RESPONSES,
    settings: {
      /**
       * The content type to send.
       * @default 'text/html'
       */
      contentType: headerValue.optional(),
    },
    example: { contentType: 'text/html' },
  }),
  /** Replaces or removes Retry-After. Strikes only responses that have the header. */
  'retry-after': kind('retry-after', {
    ...FOR_RESPONSES,
    settings: {
      /**
       * The value to send.
       * @default the header is removed
       */
      retryAfter: expected("text such as '7'", headerValue).optional(),
    },
    example: { retryAfter: '0' },
  }),
};

/** Name of a kind of fault. */
export type FaultKind = keyof typeof faultKinds;

export const FAULT_KINDS = Object.keys(faultKinds) as readonly FaultKind[];

/** All kinds as one schema, with `more` in each: the admin API and snapshots are described by it. */
export function faultUnion(more: z.ZodRawShape = {}) {
  return unionOf(({ options }) => options.extend(more));
}

const added = { addedAt: ADDED_FIELD, matched: ADDED_FIELD, struck: ADDED_FIELD };

/** A fault as JSON has it, new or read. */
export const faultInput = unionOf(({ options, example }) => options.extend(added).meta({ examples: [example] }));

function unionOf(schemaOf: (definition: (typeof faultKinds)[FaultKind]) => z.ZodObject) {
  const [first, ...others] = Object.values(faultKinds).map(schemaOf);
  if (first === undefined) throw new Error('There are no kinds of faults.');
  return z.discriminatedUnion('kind', [first, ...others]);
}

/** A kind of fault with its settings. */
export type FaultEffect = { [Kind in FaultKind]: ValueOf<(typeof faultKinds)[Kind]['effect']> }[FaultKind];

/** The argument of `mock.faults.add`: a kind with its settings and conditions. */
export type FaultOptions = FaultEffect & FaultConditions;

/** A fault that was added. */
export type Fault = FaultOptions & {
  /** Id of the fault, for example `fault_1`. */
  readonly id: string;
  /** Whether the fault strikes before or after the service has responded. */
  readonly strikes: 'before' | 'after';
  /** Time at which the fault was added, in milliseconds since the Unix epoch, by the mock's clock. */
  readonly addedAt: number;
  /** Number of requests that matched so far, struck or not. */
  readonly matched: number;
  /** Number of requests that the fault has struck. */
  readonly struck: number;
};

/** A fault that strikes a request. */
export interface StruckFault extends Pick<FaultRecord, 'settings'> {
  /** How long it delays the response: a drawn latency, or the rest of its life, which can be infinite. */
  readonly waitMs: number;
}

/** A fault as the mock keeps it. */
export interface FaultRecord {
  readonly settings: FaultOptions & Pick<Fault, 'id' | 'strikes'>;
  readonly addedAt: number;
  matched: number;
  struck: number;
  /** Matching requests by key id, `''` for requests without a known key. */
  readonly matchedByKey: Record<string, number>;
}
