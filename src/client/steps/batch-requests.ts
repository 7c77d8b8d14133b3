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

interface SharedQuery {
  /** Whether the batch had it once so far. */
  isSingle: boolean;
  ended?: EndedCall;
}

/** What the equal queries of one batch share, and how many requests its other queries are expected to need. */
export class BatchRequests {
  /** By the name of the call, the first that was started first. */
  readonly #queries = new Map<string, SharedQuery>();
  #characters = 0;
  #seen = 0;
  #singles = 0;
  #started = 0;
  #ended = 0;
  #sent = 0;

  /** The response that a call with this name may reuse at `now`, if it accepts responses of `maxAgeMs`. */
  find(name: string, now: number, maxAgeMs = REUSED_MS): EndedCall | undefined {
    const ended = this.#queries.get(name)?.ended;
    return ended !== undefined && now - ended.endedAt < Math.min(maxAgeMs, REUSED_MS) ? ended : undefined;
  }

  /** A query of the batch starts a call; without a `name`, no other query shares it. */
  start(name: string | undefined): void {
    this.#seen += 1;
    this.#started += 1;
    this.#singles += 1;
    if (name === undefined) return;
    this.#drop(name);
    this.#queries.set(name, { isSingle: true });
    this.#evict();
  }

  /** A query of the batch uses the call of another one, which may not be of the batch. */
  join(name: string): void {
    this.#seen += 1;
    const query = this.#queries.get(name);
    if (query?.isSingle !== true) return;
    query.isSingle = false;
    this.#singles -= 1;
  }

  /** A call that the batch has started has ended. */
  end(call: Call): void {
    this.#ended += 1;
    if (wasTried(call)) this.#sent += 1;
  }

  /** Keeps the response for equal queries: its text only, of which each parses its own data. */
  keep(name: string, { call, response, endedAt }: EndedCall): void {
    const query = this.#queries.get(name) ?? { isSingle: false };
    this.#drop(name);
    this.#queries.set(name, { ...query, ended: { call, response: { ...response, data: undefined }, endedAt } });
    this.#characters += response.rawBody.length;
    this.#evict();
  }

  /**
   * Expected requests of the calls in flight and of `unread` more queries: as many of these are new as of those so far were
   * single, and as many calls need a request, instead of a cached response, as did so far.
   */
  expected(unread: number): number {
    const isNew = this.#seen === 0 ? 1 : this.#singles / this.#seen;
    const isSent = this.#ended === 0 ? 1 : this.#sent / this.#ended;
    return Math.ceil((this.#started - this.#ended + unread * isNew) * isSent);
  }

  /** The batch has ended. */
  clear(): void {
    this.#queries.clear();
  }

  #evict(): void {
    for (const oldest of this.#queries.keys()) {
      if (this.#queries.size <= MOST_RESPONSES && this.#characters <= MOST_CHARACTERS) return;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    this.#characters -= this.#queries.get(name)?.ended?.response.rawBody.length ?? 0;
    this.#queries.delete(name);
  }
}
