import { type ApiResponse, type Call, wasTried } from '../call/call.ts';

/** For so long after its response, a query of a batch is not sent again. */
const REUSED_MS = 60_000;
/** A batch can be endless. */
const MOST_RESPONSES = 1_000;
/** In the bodies of the responses, as in the default store of the cache. */
const MOST_CHARACTERS = 16_000_000;

/** A call that has ended, with its response. */
export interface EndedCall {
  readonly call: Call;
  readonly response: ApiResponse;
  readonly endedAt: number;
}

/** What the equal queries of one batch share, and how many requests its other queries are expected to need. */
export class BatchRequests {
  /** By the name of the call, the one that ended first is the first. */
  readonly #endedCalls = new Map<string, EndedCall>();
  #characters = 0;
  #seen = 0;
  #started = 0;
  #ended = 0;
  #sent = 0;

  /** The response that a call with this name may reuse at `now`, if it accepts responses of `maxAgeMs`. */
  find(name: string, now: number, maxAgeMs = REUSED_MS): EndedCall | undefined {
    const ended = this.#endedCalls.get(name);
    return ended !== undefined && now - ended.endedAt < Math.min(maxAgeMs, REUSED_MS) ? ended : undefined;
  }

  /** A query of the batch starts a call. */
  start(): void {
    this.#seen += 1;
    this.#started += 1;
  }

  /** A query of the batch uses the call of another one, which may not be of the batch. */
  join(): void {
    this.#seen += 1;
  }

  /** A call that the batch has started has ended. */
  end(call: Call): void {
    this.#ended += 1;
    if (wasTried(call)) this.#sent += 1;
  }

  /** Keeps the response for equal queries: its text only, of which each parses its own data. */
  keep(name: string, { call, response, endedAt }: EndedCall): void {
    this.#drop(name);
    this.#endedCalls.set(name, { call, response: { ...response, data: undefined }, endedAt });
    this.#characters += response.rawBody.length;
    for (const oldest of this.#endedCalls.keys()) {
      if (this.#endedCalls.size <= MOST_RESPONSES && this.#characters <= MOST_CHARACTERS) return;
      this.#drop(oldest);
    }
  }

  /**
   * Expected requests of the calls in flight and of `unread` more queries: as many of these start a call as of those so far
   * did, and as many calls need a request, instead of a cached response, as did so far.
   */
  expected(unread: number): number {
    const isNew = this.#seen === 0 ? 1 : this.#started / this.#seen;
    const isSent = this.#ended === 0 ? 1 : this.#sent / this.#ended;
    return Math.ceil((this.#started - this.#ended + unread * isNew) * isSent);
  }

  /** The batch has ended. */
  clear(): void {
    this.#endedCalls.clear();
  }

  #drop(name: string): void {
    this.#characters -= this.#endedCalls.get(name)?.response.rawBody.length ?? 0;
    this.#endedCalls.delete(name);
  }
}
