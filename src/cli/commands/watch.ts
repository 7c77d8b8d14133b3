import type { AnyFxRatesError, PollSchedule } from '../../client/index.ts';
import type { Operation } from '../../operation.ts';
import { visible } from '../../text.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { printJson, tableDocument } from '../output/print-json.ts';
import { type OpenClient, type OperationRequest, type ServiceResponse, withClient } from '../request/send-request.ts';
import { WaitReporter } from '../request/wait-reporter.ts';
import { CliOption, type ValuesOf } from '../settings/options.ts';
import type { Invocation } from '../settings/settings.ts';
import { formatDuration, type OutputFormat, type Parse, parseDuration, wholeNumber } from '../settings/values.ts';
import { compactJson } from '../terminal/json-text.ts';
import { wrap } from '../terminal/text.ts';

export type WatchOptions = ValuesOf<typeof watchOptions>;

/** `conflicts`: the options of the command for a single response. */
export function watchOptions(
  operation: Operation,
  text: string,
  { shortestMs, conflicts = [] }: { readonly shortestMs: number; readonly conflicts?: string[] },
) {
  /** `true` without an interval. */
  const parse: Parse<number | true> = (typed) => parseInterval(typed, shortestMs, operation);
  return [
    new CliOption('--watch [interval]', text, parse).conflicts(conflicts),
    new CliOption('--count <n>', 'with --watch: stop after this many responses', wholeNumber(1, 999_999_999)).needs(
      'watch',
    ),
  ];
}

function parseInterval(text: string, shortestMs: number, { id, query }: Operation): number {
  if (text.includes('=') && query !== 'none') {
    throw usageError(`--watch expects an interval, got '${text}'`, undefined, [
      `Write parameters before it:  fxrates ${id} ${text} --watch`,
    ]);
  }
  const intervalMs = parseDuration(text, '--watch');
  if (intervalMs >= shortestMs) return intervalMs;
  throw usageError(`--watch expects an interval from ${shortestMs / 1000}s, got '${text}'`);
}

interface Watch {
  readonly request: OperationRequest;
  /** Milliseconds, or `'quota'`: the quota lasts until it resets. */
  readonly every: number | 'quota';
  readonly begin?: (client: OpenClient) => Promise<void>;
  readonly show: (response: ServiceResponse) => Shown;
}

/** One response, in each form in which it can be printed. */
interface Shown {
  /** For people. */
  readonly text: () => string;
  /** For programs. */
  readonly json: string;
  /** Called once it is printed. @throws CliError to end the watch */
  readonly check?: () => void;
}

/**
 * Calls an operation repeatedly until `--count` responses have arrived or Ctrl-C. A failure before the first response ends
 * the watch; a later one that may be temporary is reported, and the next call follows.
 */
export async function watch(
  invocation: Invocation<WatchOptions>,
  { request: { operation, query }, every, begin, show }: Watch,
): Promise<void> {
  const { io, screen, options } = invocation;
  const reporter = new WaitReporter(invocation, { endsLongWaits: false });
  const print = printerOf(invocation);
  let responses = 0;
  const poll = async (client: OpenClient) => {
    // Of a failure that may be over at the next call.
    const onError = (failure: AnyFxRatesError, next: PollSchedule) => {
      const error = client.explained(failure);
      if (responses === 0 || failure.kind === 'quota_exhausted' || !(error instanceof CliError)) throw error;
      reporter.end();
      const { message } = error;
      const now = io.clock.now();
      const wait = formatDuration(Math.max(0, next.at.getTime() - now));
      const text = `${localClock(now, io.timeZone)} ${visible(message)}; next request in ${wait}`;
      void screen.report(text, { event: 'missed', code: error.details.code, message });
    };
    const polled = { every, onError, signal: reporter.signal, operation: operation.id as 'latest' }; // or another one
    await begin?.(client);
    // `queryOf` has found the parameters that the contract requires.
    for await (const { data, meta, next } of client.fx.poll(query as never, polled).withMeta()) {
      reporter.end();
      const response = client.responseOf({ data, meta });
      responses += 1;
      const isLast = responses === options.count;
      const shown = show(response);
      await print(shown, isLast ? undefined : next);
      shown.check?.();
      if (isLast) break;
    }
  };
  // One call that waits longer fails, not the watch. `--no-wait` is 0, and needs no maximum.
  await withClient(invocation, { reporter, maxRetryAfterMs: invocation.settings.maxWaitMs }, poll);
}

/** `14:20:05`. */
function localClock(epochMs: number, timeZone: string | undefined): string {
  return new Date(epochMs).toLocaleTimeString('en-GB', { timeZone });
}

/** Formats that print one JSON line per response to a pipe. The others, and `--get`, are printed as without `--watch`. */
const AS_JSON_LINE: readonly OutputFormat[] = ['auto', 'json'];

/** Prints the responses of a watch: for people one below the other, for programs a JSON line for each. */
function printerOf(invocation: Invocation) {
  const { settings, screen, io } = invocation;
  const { output, get } = settings;
  // The lines of all responses are one document: its first column is the time of the response.
  const rowsOf =
    output === 'csv' || output === 'tsv' ? tableDocument(output, { names: ['fetched_at'], get }) : undefined;
  return ({ text, json }: Shown, next: PollSchedule | undefined): Promise<void> => {
    const now = io.clock.now();
    const fetchedAt = new Date(now).toISOString();
    if (rowsOf !== undefined) return screen.printLines(`${[...rowsOf([fetchedAt], json)].join('\n')}\n`);
    const isWhole = get.length === 0;
    if (isWhole && screen.isForPeople) {
      const footer = wrap(localClock(now, io.timeZone) + nextText(next, io.timeZone), screen.out.columns);
      return screen.printText(`${text().trimEnd()}\n\n${screen.out.palette.faint(footer.join('\n'))}\n\n`);
    }
    if (!isWhole || !AS_JSON_LINE.includes(output)) return printJson(json, invocation);
    return screen.printLines(`{"fetched_at":"${fetchedAt}","data":${compactJson(json)}}\n`);
  };
}

/** ` · next 14:25:05 (every 5 min, the interval of --watch) · Ctrl-C to stop`; empty after the last response. */
function nextText(next: PollSchedule | undefined, timeZone: string | undefined): string {
  if (next === undefined) return '';
  const { at, intervalMs, reason } = next;
  const every = `every ${formatDuration(intervalMs)}, ${REASONS[reason]}`;
  return ` · next ${localClock(at.getTime(), timeZone)} (${every}) · Ctrl-C to stop`;
}

/** Why the next response comes when it does. */
const REASONS: Readonly<Record<PollSchedule['reason'], string>> = {
  every: 'the interval of --watch',
  limit: 'the limit per minute',
  snapshot: 'the interval of snapshots',
  quota: 'so that the quota lasts',
  unknown: 'the quota is not known',
};
