import type { BatchProgress, FxRates, KeyLimits } from '../../../client/index.ts';
import { CliError, relatedCommand } from '../../errors/cli-error.ts';
import { monotonicNow } from '../../io/io.ts';
import { LONGEST_RETRY_AFTER_MS, otherCode } from '../../request/explain-error.ts';
import type { CallReporter } from '../../request/send-request.ts';
import type { Invocation } from '../../settings/settings.ts';
import { formatDuration } from '../../settings/values.ts';
import { grouped } from '../../terminal/text.ts';

const FRAME_MS = 500;
const LOG_LINE_MS = 10_000;
const MINUTE_MS = 60_000;
/** A batch without any response for longer ends, unless --max-wait says otherwise. */
const LONGEST_STALL_MS = 15 * MINUTE_MS;
const BAR_WIDTH = 16;
/** Below this width, the numbers need the space of the bar. */
const NARROW = 50;

interface BatchCounts extends Pick<BatchProgress, 'done' | 'failed'> {
  /** Succeeded with a cached response, or with that of an equal query. */
  readonly unsent: number;
  /** Failed because the quota is used up. */
  readonly overQuota: number;
}

/** The progress of a batch: a bar on a terminal, a line every ten seconds in a log, a JSON line with `--json`. */
export class ProgressView {
  readonly reporter: CallReporter;
  readonly #invocation: Invocation;
  readonly #stop = new AbortController();
  readonly #stall = new AbortController();
  readonly #startedAt: number;
  #progress: BatchProgress;
  /** Epoch milliseconds, as `nextSlotAt` of the limits. */
  #etaAt: number | undefined;
  /** At the last line or frame; `undefined` before the first, and after the end. */
  #limits: KeyLimits | undefined;
  #refused = 0;
  /** Of the last refusal. */
  #code: string | undefined;
  /** Milliseconds since a call ended, or its response was printed, without those in which the process was stopped. */
  #stalledMs = 0;
  #isPrinting = false;

  constructor(invocation: Invocation, total: number) {
    const { io } = invocation;
    this.#invocation = invocation;
    this.#startedAt = this.#now();
    this.#progress = { done: 0, failed: 0, total, waiting: 0, etaMs: undefined };
    this.reporter = {
      hooks: {
        onRequest: ({ status, code }) => {
          if (status !== 429) return;
          this.#refused += 1;
          this.#code = code;
        },
      },
      signal: AbortSignal.any([io.interrupts.signal, this.#stall.signal]),
      end: () => undefined,
    };
  }

  readonly update = (progress: BatchProgress): void => {
    this.#progress = progress;
    this.#stalledMs = 0;
    this.#etaAt = progress.etaMs === undefined ? undefined : this.#invocation.io.clock.now() + progress.etaMs;
  };

  /** Prints lines of data. */
  async print(lines: string): Promise<void> {
    this.#isPrinting = true;
    await this.#invocation.screen.printLines(lines);
    this.#isPrinting = false;
    this.#stalledMs = 0;
  }

  /** Shows the progress of a batch of `fx` from time to time until the end, and ends a batch that makes none. */
  async run(fx: Pick<FxRates, 'limits'>): Promise<void> {
    const { io, screen } = this.#invocation;
    const { signal } = this.#stop;
    const turnMs = screen.showsStatus ? FRAME_MS : LOG_LINE_MS;
    for (;;) {
      const startedAt = this.#now();
      await io.clock.sleep(turnMs, signal).catch(() => undefined);
      // After Ctrl-Z and `fg`, this turn is the first to end: no response that arrived meanwhile was read.
      this.#stalledMs += Math.min(this.#now() - startedAt, 2 * turnMs);
      if (signal.aborted || this.#isStalled()) return;
      this.#limits = fx.limits();
      const [count, ...others] = this.#parts();
      await (screen.showsStatus
        ? screen.status(this.#frame())
        : screen.report([`${count} done`, ...others].join(', '), this.#event('progress')));
    }
  }

  async end({ done, failed, unsent, overQuota }: BatchCounts): Promise<void> {
    this.#stop.abort();
    const { total = done } = this.#progress;
    this.#progress = { done, failed, total, waiting: 0, etaMs: undefined };
    this.#etaAt = undefined;
    this.#limits = undefined;
    const left = total - done;
    const how = left > 0 ? 'stopped' : 'done';
    const after = formatDuration(1000 * Math.round((this.#now() - this.#startedAt) / 1000));
    const counts = [
      `${grouped(done - failed)} succeeded`,
      ...(unsent > 0 ? [`${grouped(unsent)} of them without a request`] : []),
      `${grouped(failed)} failed`,
      ...(overQuota > 0 ? [`${grouped(overQuota)} of them over the quota`] : []),
      ...(left > 0 ? [`${grouped(left)} without a result`] : []),
      ...this.#refusals(),
    ];
    await this.#invocation.screen.report(`batch ${how} after ${after}: ${counts.join(', ')}`, this.#event(how));
  }

  /** A 429 was about the quota, not about the limit per minute. */
  noteOverQuota(): void {
    this.#refused -= 1;
    this.#code = undefined;
  }

  /** Ends the batch if so. The time of a slow reader of stdout does not count. */
  #isStalled(): boolean {
    const { settings, options } = this.#invocation;
    const longestMs = settings.maxWaitMs > LONGEST_RETRY_AFTER_MS ? 2 * settings.maxWaitMs : LONGEST_STALL_MS;
    const stalledMs = this.#stalledMs;
    if (this.#isPrinting || stalledMs <= longestMs) return false;
    const error = new CliError(`no query finished for ${formatDuration(stalledMs)}`, {
      code: 'rate_limited',
      why: `the service refused ${grouped(this.#refused)} requests`,
      hints: [`See:  ${relatedCommand(['doctor'], options)}`],
    });
    this.#stall.abort(error);
    return true;
  }

  #frame(): string {
    const { done, total = 1 } = this.#progress;
    const { width, palette } = this.#invocation.screen.err;
    const filled = Math.floor((BAR_WIDTH * done) / total);
    const bar = `[${palette.good('█'.repeat(filled))}${palette.faint('░'.repeat(BAR_WIDTH - filled))}] `;
    const parts = this.#parts();
    const isNarrow = width < NARROW;
    const most = isNarrow ? width - 1 : width - BAR_WIDTH - 4;
    const shown = parts.filter((_, index) => parts.slice(0, index + 1).join(' · ').length <= most).join(' · ');
    return isNarrow ? shown : bar + shown;
  }

  /** The most important ones first, because a narrow terminal shows only the start. */
  #parts(): readonly string[] {
    const { done, failed, total = done } = this.#progress;
    const leftMs = this.#etaMs();
    const waitMs = Number(this.#limits?.nextSlotAt) - this.#invocation.io.clock.now();
    return [
      `${grouped(done)} of ${grouped(total)}`,
      ...(this.#isDown ? ['the service is down'] : []),
      ...((done === 0 || this.#isDown) && waitMs > 0 ? [`next request in ${formatDuration(waitMs)}`] : []),
      ...(leftMs === undefined ? [] : [`${formatDuration(leftMs)} left`]),
      `${grouped(failed)} failed`,
      `${grouped(this.#perMinute())} per minute`,
      ...(this.#waiting > 0 ? [`${grouped(this.#waiting)} waiting`] : []),
      ...this.#refusals(),
    ];
  }

  /** Requests, not queries: those of queries that wait for the limit are sent again. */
  #refusals(): readonly string[] {
    if (this.#refused <= 0) return [];
    const requests = this.#refused === 1 ? 'request' : 'requests';
    return [`${grouped(this.#refused)} ${requests} over the limit${otherCode(this.#code)}`];
  }

  /** Without the calls of the client itself, such as `quota()` for the limit. */
  get #waiting(): number {
    const { done, total = done } = this.#progress;
    return Math.min(this.#limits?.waiting ?? 0, total - done);
  }

  get #isDown(): boolean {
    return this.#limits !== undefined && this.#limits.service !== 'up';
  }

  /** Whole seconds, rounded up; at least until the next slot if calls wait for it. There is no estimate during an outage. */
  #etaMs(): number | undefined {
    if (this.#etaAt === undefined || this.#isDown) return undefined;
    const endAt = this.#waiting > 0 ? Math.max(this.#etaAt, Number(this.#limits?.nextSlotAt)) : this.#etaAt;
    return Math.max(0, 1000 * Math.ceil((endAt - this.#invocation.io.clock.now()) / 1000));
  }

  /** Calls that ended, on average. In the first minute, all of them. */
  #perMinute(): number {
    const minutes = (this.#now() - this.#startedAt) / MINUTE_MS;
    return Math.round(this.#progress.done / Math.max(1, minutes));
  }

  #event(event: 'progress' | 'done' | 'stopped') {
    const { done, failed, total } = this.#progress;
    const waiting = this.#waiting;
    const leftMs = this.#etaMs();
    const counts = { done, failed, total, waiting, refused: this.#refused, per_minute: this.#perMinute() };
    const service = this.#limits && (this.#isDown ? 'down' : 'up');
    return { event, ...counts, service, eta_seconds: leftMs === undefined ? null : leftMs / 1000 };
  }

  #now(): number {
    return monotonicNow(this.#invocation.io);
  }
}
