/** A poll that runs: it uses requests of the month of its key. */
export interface RunningPoll {
  /** Requests of a round that count toward the quota. */
  readonly requests: number;
  /** The interval between requests; `undefined` if the poll spreads what is left of the month. */
  readonly fixedMs: number | undefined;
}

/** A part of the month at one time, which the polls of this process may use until its end. */
export interface MonthLeft {
  /** Requests, without a reserve. */
  readonly requests: number;
  readonly leftMs: number;
}

/** Time after which a count of the requests of others ends, and the next one begins. */
const COUNT_MS = 3_600_000;
/** Two weeks of counts, because the use of many programs repeats by day and by week. */
const COUNTED_MS = 14 * 24 * COUNT_MS;
/** The largest counts are left out: they can be a job that is run once, which may be in two counts. */
const LARGEST_COUNTS = 2;
/** Part of the requests left that the polls use in any case: what others used before may not repeat. */
const LEAST_PART = 0.1;
/** A poll that waits for the reset waits longer by this time, because the clocks of the client and the service differ. */
const AFTER_RESET_MS = 30_000;

interface Count {
  readonly requests: number;
  readonly ms: number;
}

/** How the polls of one key share the requests left of the month among each other, and with all other calls of the key. */
export class PollBudget {
  readonly #polls = new Set<RunningPoll>();
  /** Requests of the polls. */
  #polled = 0;
  /** When the count of others' requests began. */
  #from: { readonly remaining: number; readonly polled: number; readonly atMs: number } | undefined;
  /** The requests of others in the last counts. A count takes longer while the machine sleeps. */
  readonly #others: Count[] = [];

  start(poll: RunningPoll): void {
    this.#polls.add(poll);
  }

  end(poll: RunningPoll): void {
    this.#polls.delete(poll);
  }

  /** A poll has sent a request that counts toward the quota. */
  sent(): void {
    this.#polled += 1;
  }

  /** Number of requests in one round of all polls. */
  get requestsPerRound(): number {
    return [...this.#polls].reduce((sum, { requests }) => sum + requests, 0);
  }

  /**
   * A record of the quota, by which `remaining` requests are left. A count in which they grew, as in a new month, is left out;
   * so is one of a used-up month, or of a clock that was set back.
   */
  sawRemaining(remaining: number, atMs: number): void {
    const from = this.#from;
    const ms = atMs - (from?.atMs ?? atMs - COUNT_MS);
    if (ms >= 0 && ms < COUNT_MS) return;
    this.#from = { remaining, polled: this.#polled, atMs };
    if (from === undefined || ms < 0 || remaining > from.remaining || from.remaining === 0) return;
    const byOthers = from.remaining - remaining - (this.#polled - from.polled);
    this.#others.push({ requests: Math.max(0, byOthers), ms });
    while (sumOf(this.#others, 'ms') > COUNTED_MS) this.#others.shift();
  }

  /**
   * The interval with which the polls without a fixed one, which all have the same, use what is left after the polls with
   * one and after others, if these continue as before.
   */
  spreadMs({ requests, leftMs }: MonthLeft): number {
    let [spread, fixed] = [0, 0];
    for (const poll of this.#polls) {
      if (poll.fixedMs === undefined) spread += poll.requests;
      else fixed += (poll.requests * leftMs) / poll.fixedMs;
    }
    const left = requests - fixed;
    const available = Math.max(left - this.#othersPerMs() * leftMs, left * LEAST_PART);
    return available <= spread ? leftMs + AFTER_RESET_MS : Math.ceil((leftMs * spread) / available);
  }

  #othersPerMs(): number {
    const usual = this.#others.toSorted((a, b) => a.requests / a.ms - b.requests / b.ms).slice(0, -LARGEST_COUNTS);
    return usual.length === 0 ? 0 : sumOf(usual, 'requests') / sumOf(usual, 'ms');
  }
}

function sumOf(counts: readonly Count[], field: keyof Count): number {
  return counts.reduce((sum, count) => sum + count[field], 0);
}
