import type { AdapterName } from '../adapters/active-adapters.ts';

/** What goes wrong. Which settings a kind has, and which adapters can do it: `fault-kinds.ts`. */
export type FaultEffect =
  /** The request, or its answer, takes `latencyMs` longer, by the mock's clock. */
  | { readonly kind: 'latency'; readonly latencyMs: number }
  /** No answer, ever; the connection stays open until the client gives up or the mock is closed. */
  | { readonly kind: 'hang' }
  /** Another answer: the error envelope with `code`, or `body` as it is. Default code: the status in words. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly code?: string | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly body?: string | undefined;
    }
  /** No answer, and no word of why: what every adapter can do. */
  | { readonly kind: 'network-error' }
  /** The connection is reset, ECONNRESET; after `afterBytes` of the body, or before anything was sent. */
  | { readonly kind: 'reset'; readonly afterBytes?: number | undefined }
  /** The connection is closed in good order after `afterBytes` of the body, of which more was promised. */
  | { readonly kind: 'truncate'; readonly afterBytes: number }
  /** The body comes in pieces of `chunkBytes` (default: 1), `intervalMs` apart by the mock's clock. */
  | { readonly kind: 'dribble'; readonly chunkBytes?: number | undefined; readonly intervalMs: number }
  /** Chunked encoding that breaks after `afterBytes` of the body. Default: 0. */
  | { readonly kind: 'malformed-chunk'; readonly afterBytes?: number | undefined }
  /** An answer that is no HTTP. */
  | { readonly kind: 'garbage' }
  /** The first half of the body, with the length that it then has. */
  | { readonly kind: 'bad-json' }
  /** The true body under another content type. Default: `'text/html'`. */
  | { readonly kind: 'content-type'; readonly contentType?: string | undefined }
  /** Another Retry-After, as it is; left out: none. Strikes answers that carry one. */
  | { readonly kind: 'retry-after'; readonly retryAfter?: string | undefined };

export type FaultKind = FaultEffect['kind'];

/** Which requests a fault is for; all of the emulated API by default, never the dashboard. */
export interface FaultMatch {
  /** Id of an operation, `'latest'`. */
  readonly operation?: string | undefined;
  readonly keyId?: string | undefined;
  /** The whole path; `*` stands for anything. */
  readonly path?: string | undefined;
  readonly method?: string | undefined;
  /** The status that the service has decided on; for faults that strike after it. */
  readonly status?: number | undefined;
  /** Only requests of this adapter, or one of these. */
  readonly via?: AdapterName | readonly AdapterName[] | undefined;
}

/** When a fault strikes; always, by default. What is given must all hold. */
export interface FaultConditions {
  /** Default: `fault_1`, `fault_2`, … */
  readonly id?: string | undefined;
  readonly match?: FaultMatch | undefined;
  /** Which of the matching requests, counted from 1. */
  readonly nth?: number | readonly number[] | undefined;
  /** How often at most. */
  readonly times?: number | undefined;
  /** From 0, never, to 1. The mock's seed decides, for each key by itself. */
  readonly probability?: number | undefined;
  /** How long the fault lives, by the mock's clock. */
  readonly forMs?: number | undefined;
  /**
   * `'after'` (default): the service has decided on the request and counted it, then the answer suffers. `'before'`:
   * the service never sees the request, or sees it late; nothing is counted.
   */
  readonly strikes?: 'before' | 'after' | undefined;
}

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
