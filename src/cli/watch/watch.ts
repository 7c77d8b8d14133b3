import { Option } from 'commander';
import type { AnyFxRatesError, PollSchedule } from '../../client/index.ts';
import type { Invocation } from '../command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { localClock } from '../output/format-text.ts';
import { openClient, type ServiceRequest, type ServiceResponse } from '../request/send-request.ts';
import { WaitReporter } from '../request/wait-reporter.ts';
import type { KeyInUse } from '../settings/api-key.ts';
import { formatDuration, parseDuration } from '../settings/duration.ts';
import { jsonLine, visible } from '../terminal/text.ts';

interface Watch {
  readonly request: ServiceRequest;
  readonly key: KeyInUse;
  readonly count: number;
  /** Milliseconds, or as often as makes sense. */
  readonly every: number | 'quota';
  readonly show: (response: ServiceResponse, next: PollSchedule) => Promise<void>;
  /** Called before a remark is written to stderr, which the next frame must not erase. */
  readonly onRemark: () => void;
}

/** Failures that may be over at the next call. */
const PASSING: readonly ExitCode[] = [exitCodes.server, exitCodes.network, exitCodes.rateLimited];

/**
 * Calls an operation repeatedly until `count` answers have come or Ctrl-C. A failure before the first answer ends the
 * watch; a later one that may be temporary is reported, and the next call follows.
 */
export async function watch(
  invocation: Invocation,
  { request: { operation, query }, key, count, every, show, onRemark }: Watch,
): Promise<number> {
  const { io, screen } = invocation;
  const reporter = new WaitReporter(invocation, { endsLongWaits: false });
  const client = await openClient(invocation, { key, reporter });
  let answers = 0;
  const onError = (failure: AnyFxRatesError, next: PollSchedule) => {
    const error = client.explained(failure);
    if (answers === 0 || !isPassing(error)) throw error;
    reporter.restart();
    onRemark();
    const at = localClock(next.at.getTime() - next.intervalMs, io.timeZone);
    const again = `asking again in ${formatDuration(next.intervalMs)}`;
    void screen.info(remark({ error, at, next: again, isJson: screen.isJson }));
  };
  const options = { every, onError, signal: reporter.signal, operation: operation?.id as 'latest' }; // or another one
  try {
    for await (const { data, meta, next } of client.fx.poll(query, options).withMeta()) {
      reporter.restart();
      await show(client.responseOf({ data, meta }), next);
      answers += 1;
      if (answers === count) break;
    }
    return exitCodes.ok;
  } catch (error) {
    if (io.interrupts.signal.aborted && screen.out.isTTY) await screen.info('\n'); // after the ^C that the terminal shows
    throw client.explained(error);
  } finally {
    await client.close();
  }
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

/** What `--watch` and `--count` say. */
export interface WatchRequest {
  /** `undefined`: as often as makes sense. */
  readonly intervalMs: number | undefined;
  /** Infinity: until Ctrl-C. */
  readonly count: number;
}

export function watchOptions({
  text,
  shortestMs,
}: {
  readonly text: string;
  readonly shortestMs: number;
}): readonly Option[] {
  return [
    new Option('--watch [interval]', text).argParser((typed) => parseInterval(typed, shortestMs)),
    new Option('--count <n>', 'with --watch: stop after this many responses').argParser(parseCount),
  ];
}

/** `undefined` without `--watch`; then the other options of a watch are refused. */
export function watchRequest({ options }: Invocation): WatchRequest | undefined {
  const { watch, count, force } = options;
  if (watch === undefined) {
    const lonely = Object.entries({ count, force }).find(([, value]) => value !== undefined)?.[0];
    if (lonely !== undefined) throw usageError(`--${lonely} requires --watch`);
    return undefined;
  }
  return {
    intervalMs: typeof watch === 'number' ? watch : undefined, // `true` when no interval was typed
    count: typeof count === 'number' ? count : Number.POSITIVE_INFINITY,
  };
}

function parseInterval(text: string, shortestMs: number): number {
  if (text.includes('=')) {
    throw usageError(`--watch expects an interval, got '${text}'`, undefined, [
      'Parameters stand before it:  fxrates latest base=USD --watch',
    ]);
  }
  const intervalMs = parseDuration(text, '--watch');
  if (intervalMs >= shortestMs && Number.isFinite(intervalMs)) return intervalMs;
  throw usageError(`--watch expects an interval from ${shortestMs / 1000}s, got '${text}'`);
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(`--count expects a whole number from 1, got '${text}'`);
}
