import type { BatchProgress } from '../../../client/index.ts';
import { visible } from '../../../text.ts';
import type { Invocation } from '../../command.ts';
import { CliError, relatedCommand } from '../../errors/cli-error.ts';
import { LONGEST_RETRY_AFTER_MS } from '../../request/explain-error.ts';
import type { CallReporter } from '../../request/send-request.ts';
import { canRedraw, ERASE_LINE } from '../../request/wait-reporter.ts';
import { formatDuration } from '../../settings/duration.ts';
import { grouped, jsonLine } from '../../terminal/text.ts';

const FRAME_MS = 500;
const LOG_LINE_MS = 10_000;
const MINUTE_MS = 60_000;
/** A batch without any response for longer ends, unless --max-wait says otherwise. */
const LONGEST_STALL_MS = 15 * MINUTE_MS;
const WIDEST_BAR = 20;
/** Failures of a batch with lines of data that are also named on stderr. */
const MOST_NAMED = 3;
/** Columns that the counts need; a narrower terminal gets no bar. */
const WIDTH_OF_TEXT = 70;

interface BatchCounts extends Pick<BatchProgress, 'done' | 'failed'> {
  readonly cached: number;
}

/** The progress of a batch: a bar on a terminal, a line every ten seconds in a log, a JSON line with `--json`. */
export class ProgressView {
  readonly reporter: CallReporter;
  readonly #invocation: Invocation;
  readonly #hasBar: boolean;
  readonly #stop = new AbortController();
  readonly #startedAt: number;
  #progress: BatchProgress;
  #etaAt: number | undefined;
  /** End of the last wait that the client has reported. */
  #waitsUntil = 0;
  #refused = 0;
  #isDrawn = false;

  /** When a call ended, or its response was printed, for the last time. */
  #movedAt: number;
  #isPrinting = false;
  /** Failures that were printed to stderr as well as in a line of data. */
  #named = 0;
  readonly #stall = new AbortController();

  constructor(invocation: Invocation, total: number) {
    const { io, screen } = invocation;
    this.#invocation = invocation;
    this.#hasBar = canRedraw(invocation);
    this.#startedAt = io.clock.now();
    this.#movedAt = this.#startedAt;
    this.#progress = { done: 0, failed: 0, total, waiting: 0, etaMs: undefined };
    this.reporter = {
      hooks: {
        onRequest: ({ status }) => {
          if (status === 429) this.#refused += 1;
        },
        onWait: ({ until, waiting }) => {
          this.#waitsUntil = until.getTime();
          this.#progress = { ...this.#progress, waiting };
        },
        logger: { warn: (message) => void this.#erase().then(() => screen.warn(message)) },
      },
      signal: AbortSignal.any([io.interrupts.signal, this.#stall.signal]),
      end: () => undefined,
    };
  }

  start(): void {
    void this.#tick();
  }

  readonly update = (progress: BatchProgress): void => {
    const now = this.#invocation.io.clock.now();
    this.#progress = progress;
    this.#movedAt = now;
    this.#etaAt = progress.etaMs === undefined ? undefined : now + progress.etaMs;
  };

  /** Prints lines of data; on a terminal the bar is erased first. */
  async print(lines: string): Promise<void> {
    const { screen, io } = this.#invocation;
    if (screen.out.isTTY) await this.#erase();
    this.#isPrinting = true;
    await screen.print(screen.out.isTTY ? visible(lines) : lines);
    this.#isPrinting = false;
    this.#movedAt = io.clock.now();
  }

  /**
   * Prints the failure of a query to stderr. If it also has a line of data, only the first failures are printed, and only
   * if that line is not on the terminal.
   */
  async printFailure(text: string, { isPrinted }: { readonly isPrinted: boolean }): Promise<void> {
    const { screen } = this.#invocation;
    if (isPrinted && (screen.out.isTTY || screen.isJson || this.#named === MOST_NAMED)) return;
    this.#named += 1;
    await this.#erase();
    await (isPrinted ? screen.info(text) : screen.error(text));
  }

  async end({ done, failed, cached }: BatchCounts): Promise<void> {
    this.#stop.abort();
    await this.#erase();
    const { screen, io } = this.#invocation;
    const { total = done } = this.#progress;
    this.#progress = { done, failed, total, waiting: 0, etaMs: undefined };
    this.#etaAt = undefined;
    const left = total - done;
    if (screen.isJson) return screen.info(this.#event(left > 0 ? 'stopped' : 'done'));
    const after = formatDuration(1000 * Math.round((io.clock.now() - this.#startedAt) / 1000));
    const counts = [
      `${grouped(done - failed)} succeeded`,
      ...(cached > 0 ? [`${grouped(cached)} of them cached`] : []),
      `${grouped(failed)} failed`,
      ...(left > 0 ? [`${grouped(left)} left`] : []),
      `${grouped(this.#refused)} refused`,
    ];
    await screen.info(`fxrates: batch ${left > 0 ? 'stopped' : 'done'} after ${after}: ${counts.join(', ')}\n`);
  }

  async #tick(): Promise<void> {
    const { io, screen } = this.#invocation;
    const { signal } = this.#stop;
    for (;;) {
      await io.clock.sleep(this.#hasBar ? FRAME_MS : LOG_LINE_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      if (this.#isStalled()) return;
      if (this.#hasBar) await this.#draw();
      else await screen.info(this.#logLine());
    }
  }

  #logLine(): string {
    return this.#invocation.screen.isJson ? this.#event('progress') : `fxrates: ${this.#parts().join(', ')}\n`;
  }

  /** Ends the batch if so. The time of a slow reader of stdout does not count. */
  #isStalled(): boolean {
    const { io, settings } = this.#invocation;
    const { maxWaitMs } = settings;
    const longestMs = maxWaitMs > LONGEST_RETRY_AFTER_MS ? 2 * maxWaitMs : LONGEST_STALL_MS;
    const stalledMs = this.#isPrinting ? 0 : io.clock.now() - this.#movedAt;
    if (stalledMs <= longestMs) return false;
    this.#stall.abort(stalled(stalledMs, this.#refused, this.#invocation));
    return true;
  }

  async #erase(): Promise<void> {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    await this.#invocation.screen.info(ERASE_LINE);
  }

  #draw(): Promise<void> {
    const { screen } = this.#invocation;
    this.#isDrawn = true;
    const { done, total = 1 } = this.#progress;
    const { columns, palette } = screen.err;
    const width = Math.min(WIDEST_BAR, Math.max(0, columns - WIDTH_OF_TEXT));
    const filled = Math.floor((width * done) / total);
    const bar = width === 0 ? '' : `[${palette.good('█'.repeat(filled))}${palette.faint('░'.repeat(width - filled))}] `;
    const text = fitting(this.#parts(), columns - 1 - (width === 0 ? 0 : width + 3)).join(' · ');
    return screen.info(`${ERASE_LINE}${bar}${text}`);
  }

  /** The most important ones first: a narrow terminal shows only those that fit. */
  #parts(): readonly string[] {
    const { done, failed, total = done, waiting } = this.#progress;
    const leftMs = this.#etaMs();
    const waitMs = this.#waitsUntil - this.#invocation.io.clock.now();
    return [
      `${grouped(done)} of ${grouped(total)}`,
      ...(done === 0 && waitMs > 0 ? [`next request in ${formatDuration(waitMs)}`] : []),
      ...(leftMs === undefined ? [] : [`${formatDuration(leftMs)} left`]),
      `${grouped(failed)} failed`,
      `${grouped(this.#perMinute())}/min`,
      `${grouped(this.#refused)} refused`,
      `${grouped(waiting)} waiting`,
    ];
  }

  #etaMs(): number | undefined {
    const { io } = this.#invocation;
    return this.#etaAt === undefined ? undefined : Math.max(0, this.#etaAt - io.clock.now());
  }

  /** Calls that ended, on average. In the first minute, all of them. */
  #perMinute(): number {
    const minutes = (this.#invocation.io.clock.now() - this.#startedAt) / MINUTE_MS;
    return Math.round(this.#progress.done / Math.max(1, minutes));
  }

  #event(event: 'progress' | 'done' | 'stopped'): string {
    const { done, failed, total, waiting } = this.#progress;
    const leftMs = this.#etaMs();
    const counts = { done, failed, total, waiting, refused: this.#refused, per_minute: this.#perMinute() };
    return jsonLine({ event, ...counts, eta_seconds: leftMs === undefined ? null : Math.ceil(leftMs / 1000) });
  }
}

function stalled(ms: number, refused: number, { argv }: Pick<Invocation, 'argv'>): CliError {
  return new CliError(`no query finished for ${formatDuration(ms)}`, {
    code: 'rate_limited',
    why: `the service refused ${grouped(refused)} requests`,
    hints: [`See:  ${relatedCommand(['doctor'], argv)}`],
  });
}

function fitting(parts: readonly string[], width: number): readonly string[] {
  let length = -3;
  return parts.filter((part) => {
    length += part.length + 3;
    return length <= width;
  });
}
