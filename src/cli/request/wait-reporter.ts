import type { FxRatesOptions, RequestEvent } from '../../client/index.ts';
import { visible } from '../../text.ts';
import { monotonicNow } from '../io/io.ts';
import type { Invocation } from '../settings/settings.ts';
import { formatDuration } from '../settings/values.ts';
import { otherCode, waitTooLong } from './explain-error.ts';

interface ReportedWait {
  /** For people. */
  readonly cause: string;
  readonly waitMs: number;
  /** For programs: `rate_limited`, or the kind of the error that is retried. */
  readonly reason: string;
  /** Number of the request that follows, if that is known. */
  readonly attempt?: number;
}

/** A wait gets a new line only if its end is this much later than reported: it moves while other commands use the limit. */
const NEW_LINE_MS = 30_000;

/** Reports the client's waits: a countdown on a terminal, few lines in a log, JSON lines with `--json`. */
export class WaitReporter {
  readonly hooks: Pick<FxRatesOptions, 'onRequest' | 'onWait' | 'onRetry'>;
  /** Ends the call on Ctrl-C, and when the waits for the limit add up to more than `--max-wait`. */
  readonly signal: AbortSignal;
  readonly #invocation: Invocation;
  readonly #endsLongWaits: boolean;
  readonly #tooLong = new AbortController();
  /** The last refusal, until its call has another response. */
  #refusal: Pick<RequestEvent, 'status' | 'code' | 'requestId' | 'callId'> | undefined;
  /** Milliseconds of the waits for the limit that have ended. */
  #waitedMs = 0;
  /** The current wait for the limit. Its timer can be late, which does not count. */
  #limitWait: { readonly startedAt: number; readonly waitMs: number } | undefined;
  /** End of the current wait, as last reported. */
  #reportedUntil = Number.NEGATIVE_INFINITY;
  #countdown: AbortController | undefined;

  /** `endsLongWaits: false`: for many calls, of which only those that wait longer than `--max-wait` fail. */
  constructor(invocation: Invocation, { endsLongWaits = true }: { readonly endsLongWaits?: boolean } = {}) {
    this.#invocation = invocation;
    this.#endsLongWaits = endsLongWaits;
    this.signal = AbortSignal.any([invocation.io.interrupts.signal, this.#tooLong.signal]);
    this.hooks = {
      onRequest: ({ status, code, requestId, callId }) => {
        if (status === 429) this.#refusal = { status, code, requestId, callId };
        else if (callId === this.#refusal?.callId) this.#refusal = undefined;
      },
      onWait: ({ waitMs, reason, limits }) => {
        // `--max-wait` counts only waits for the limit, which is the last case.
        if (limits?.reason === 'in_flight')
          this.#begin({ cause: 'other requests of this key are in flight', reason: 'in_flight', waitMs });
        else if (reason === 'service') this.#begin({ cause: 'the service is down', reason: 'server', waitMs });
        else this.#onLimit(waitMs);
      },
      onRetry: ({ retry, kind, code, status, waitMs }) => {
        const cause = visible(`the attempt failed (${status ?? code ?? kind})`);
        this.#begin({ cause, reason: kind, waitMs, attempt: retry + 1 });
      },
    };
  }

  /** The next request is sent, or the call has ended. */
  end(): void {
    this.#endWait();
    this.#reportedUntil = Number.NEGATIVE_INFINITY;
  }

  #endWait(): void {
    const wait = this.#limitWait;
    if (wait !== undefined) this.#waitedMs += Math.min(this.#now() - wait.startedAt, wait.waitMs);
    this.#limitWait = undefined;
    if (this.#countdown === undefined) return;
    this.#countdown.abort();
    this.#countdown = undefined;
    void this.#invocation.screen.status('');
  }

  #onLimit(waitMs: number): void {
    this.#endWait();
    const sumMs = this.#waitedMs + waitMs;
    const { maxWaitMs } = this.#invocation.settings;
    if (this.#endsLongWaits && sumMs > maxWaitMs) {
      this.#tooLong.abort(waitTooLong(waitMs, this.#invocation, { sumMs, ...this.#refusal }));
    } else {
      this.#begin({ cause: `rate limited${otherCode(this.#refusal?.code)}`, reason: 'rate_limited', waitMs });
      this.#limitWait = { startedAt: this.#now(), waitMs };
    }
  }

  #now(): number {
    return monotonicNow(this.#invocation.io);
  }

  #begin(wait: ReportedWait): void {
    this.#endWait();
    const { screen, io } = this.#invocation;
    if (screen.showsStatus) return void this.#countDown(wait);
    const { reason, cause, waitMs, attempt } = wait;
    const until = this.#now() + waitMs;
    if (until - this.#reportedUntil < NEW_LINE_MS) return;
    this.#reportedUntil = until;
    const at = new Date(io.clock.now()).toISOString();
    const event = attempt === undefined ? 'wait' : 'retry';
    const then = attempt === undefined ? '' : `, then attempt ${attempt}`;
    const facts = { event, reason, wait_seconds: waitMs / 1000, attempt, at };
    void screen.report(`${cause}, waiting ${formatDuration(waitMs)}${then}`, facts);
  }

  async #countDown({ cause, waitMs }: ReportedWait): Promise<void> {
    const { io, screen } = this.#invocation;
    const countdown = new AbortController();
    this.#countdown = countdown;
    const until = this.#now() + waitMs;
    for (let leftMs = waitMs; leftMs > 0 && !countdown.signal.aborted; leftMs = until - this.#now()) {
      const retrying = `Retrying in ${formatDuration(leftMs)}`;
      const sentence = `${capitalized(cause)}. ${retrying}`;
      const isFitting = (line: string) => line.length < screen.err.width;
      const line = [`${sentence} — Ctrl-C to stop`, sentence].find(isFitting) ?? retrying;
      await screen.status(screen.err.palette.warning(line));
      // Until the next whole second, so that the last frame shows 1 s.
      await io.clock.sleep(leftMs % 1000 || 1000, countdown.signal).catch(() => undefined);
    }
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
