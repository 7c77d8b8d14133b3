import { CliError } from '../errors/cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { localClock } from '../output/local-time.ts';
import { formatDuration } from '../settings/duration.ts';
import { jsonLine } from '../terminal/json-line.ts';
import { visible } from '../terminal/visible.ts';
import type { WatchInterval } from './pace.ts';

interface Watch {
  readonly count: number;
  /** Asks, shows the answer, and says when to ask again. Gets the time that was waited for. */
  readonly round: () => Promise<WatchInterval>;
  /** A remark on stderr comes between; what is drawn over must not be it. */
  readonly onRemark: () => void;
}

/** Failures that may be over by the next time. */
const PASSING: readonly ExitCode[] = [exitCodes.server, exitCodes.network, exitCodes.rateLimited];

/**
 * Asks again and again until `count` answers came or Ctrl-C. The first failure at the very start ends it; later, one
 * that may pass is told, and the watch goes on.
 */
export async function watch(invocation: Invocation, { count, round, onRemark }: Watch): Promise<number> {
  const { io, screen } = invocation;
  let interval: WatchInterval | undefined;
  for (let answers = 0; answers < count; ) {
    const startedAt = io.clock.now();
    try {
      interval = await round();
      answers += 1;
    } catch (error) {
      if (interval === undefined || !isPassing(error)) throw error;
      onRemark();
      const at = localClock(startedAt, io.timeZone);
      const next = `asking again in ${formatDuration(interval.intervalMs)}`;
      await screen.info(remark({ error, at, next, isJson: screen.isJson }));
    }
    const leftMs = startedAt + interval.intervalMs - io.clock.now();
    if (answers < count && leftMs > 0) await io.clock.sleep(leftMs, io.interrupts.signal);
  }
  return exitCodes.ok;
}

function isPassing(error: unknown): error is CliError {
  return error instanceof CliError && PASSING.includes(error.exitCode);
}

interface Remark {
  readonly error: CliError;
  readonly at: string;
  readonly next: string;
  readonly isJson: boolean;
}

function remark({ error: { code, message }, at, next, isJson }: Remark): string {
  return isJson ? jsonLine({ event: 'missed', code, message }) : `fxrates: ${at} ${visible(message)}; ${next}\n`;
}
