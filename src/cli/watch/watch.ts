import { stripVTControlCharacters } from 'node:util';
import { Option } from 'commander';
import type { AnyFxRatesError, PollSchedule } from '../../client/index.ts';
import { visible } from '../../text.ts';
import type { Invocation } from '../command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { compactJson } from '../json/pretty-json.ts';
import { type OutputFormat, parsedOption, wholeNumber } from '../options.ts';
import { printBody, tableDocument } from '../output/print-json.ts';
import { type OpenClient, type OperationRequest, type ServiceResponse, withClient } from '../request/send-request.ts';
import { WaitReporter } from '../request/wait-reporter.ts';
import { formatDuration, parseDuration } from '../settings/duration.ts';
import { wrap } from '../terminal/text.ts';

export interface WatchOptions {
  /** Milliseconds; `true` when no interval was typed. */
  readonly watch?: number | true;
  readonly count?: number;
  readonly force?: boolean;
}

/** `conflicts`: the options of the command for a single response. */
export function watchOptions(
  text: string,
  { shortestMs, conflicts = [] }: { readonly shortestMs: number; readonly conflicts?: string[] },
): readonly Option[] {
  return [
    new Option('--watch [interval]', text).conflicts(conflicts).argParser((typed) => parseInterval(typed, shortestMs)),
    parsedOption('--count <n>', 'with --watch: stop after this many responses', wholeNumber(1, 999_999_999)),
  ];
}

function parseInterval(text: string, shortestMs: number): number {
  if (text.includes('=')) {
    throw usageError(`--watch expects an interval, got '${text}'`, undefined, [
      'Write parameters before it:  fxrates latest base=USD --watch',
    ]);
  }
  const intervalMs = parseDuration(text, '--watch');
  if (intervalMs >= shortestMs && Number.isFinite(intervalMs)) return intervalMs;
  throw usageError(`--watch expects an interval from ${shortestMs / 1000}s, got '${text}'`);
}

/** @throws CliError for another option of a watch without `--watch` */
export function isWatch({ watch, count, force }: WatchOptions): boolean {
  if (watch !== undefined) return true;
  const lonely = Object.entries({ count, force }).find(([, value]) => value !== undefined)?.[0];
  if (lonely !== undefined) throw usageError(`--${lonely} requires --watch`);
  return false;
}

interface Watch {
  readonly request: OperationRequest;
  /** Milliseconds, or the interval of the quota or of the snapshots. */
  readonly every: number | 'quota';
  readonly begin?: (client: OpenClient) => Promise<void>;
  readonly show: (response: ServiceResponse, next: PollSchedule, view: LiveView) => Promise<void>;
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
  const view = new LiveView(invocation);
  let responses = 0;
  const poll = async (client: OpenClient) => {
    // Of a failure that may be over at the next call.
    const onError = (failure: AnyFxRatesError, next: PollSchedule) => {
      const error = client.explained(failure);
      if (responses === 0 || failure.kind === 'quota_exhausted' || !(error instanceof CliError)) throw error;
      reporter.end();
      view.keep();
      const { message } = error;
      const at = localClock(next.at.getTime() - next.intervalMs, io.timeZone);
      const text = `${at} ${visible(message)}; next request in ${formatDuration(next.intervalMs)}`;
      void screen.report(text, { event: 'missed', code: error.details.code, message });
    };
    const polled = { every, onError, signal: reporter.signal, operation: operation.id as 'latest' }; // or another one
    await begin?.(client);
    for await (const { data, meta, next } of client.fx.poll(query, polled).withMeta()) {
      reporter.end();
      await show(client.responseOf({ data, meta }), next, view);
      responses += 1;
      if (responses === options.count) break;
    }
  };
  await withClient(invocation, { reporter }, poll).catch(async (error: unknown) => {
    if (io.interrupts.signal.aborted && screen.out.isTTY) await screen.info('\n'); // after the ^C that the terminal shows
    throw error;
  });
}

/** `14:20:05`. */
function localClock(epochMs: number, timeZone: string | undefined): string {
  const style = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', timeZone === undefined ? style : { ...style, timeZone }).format(epochMs);
}

/** One response, in each form in which it can be printed. */
interface Shown {
  readonly response: ServiceResponse;
  /** For a terminal, line ends and all. */
  readonly text: string;
  /** For programs. */
  readonly json: string;
  readonly next: PollSchedule;
  /** Why the next one comes then. */
  readonly reason: string;
}

/** Formats that print one JSON line per response to a pipe. The others, and `--get`, are printed as without `--watch`. */
const AS_JSON_LINE: readonly OutputFormat[] = ['auto', 'json', 'compact'];

/** Prints the responses of a watch: a terminal shows the last one in place, a pipe receives one JSON line for each. */
class LiveView {
  readonly #invocation: Invocation;
  /** Rows of the last frame, which the next one overwrites. */
  #rows = 0;
  /** The lines of all responses are one document: its first column is the time of the response. */
  readonly #rowsOf: ReturnType<typeof tableDocument> | undefined;

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
    const { output, get } = invocation.settings;
    if (output === 'csv' || output === 'tsv') this.#rowsOf = tableDocument(output, ['fetched_at'], get);
  }

  /** The next frame is printed below what is on the screen. */
  keep(): void {
    this.#rows = 0;
  }

  async show(shown: Shown): Promise<void> {
    const { settings, screen, io } = this.#invocation;
    const { json, response } = shown;
    const fetchedAt = new Date(io.clock.now()).toISOString();
    if (this.#rowsOf !== undefined) return screen.printLines(`${[...this.#rowsOf([fetchedAt], json)].join('\n')}\n`);
    const isWhole = settings.get.length === 0;
    if (isWhole && screen.isForPeople) return this.#showToPeople(shown);
    if (!isWhole || !AS_JSON_LINE.includes(settings.output)) return printBody(response, json, this.#invocation);
    return screen.printLines(`{"fetched_at":"${fetchedAt}","data":${compactJson(json)}}\n`);
  }

  #showToPeople({ text, next: { intervalMs }, reason }: Shown): Promise<void> {
    const { screen, io } = this.#invocation;
    if (!screen.out.canRedraw) return screen.printText(`${text.trimEnd()}\n\n`);
    const now = io.clock.now();
    const next = localClock(now + intervalMs, io.timeZone);
    const every = `every ${formatDuration(intervalMs)}, ${reason}`;
    const status = `${localClock(now, io.timeZone)} · next ${next} (${every}) · Ctrl-C to stop`;
    const footer = wrap(status, screen.out.columns).map((line) => screen.out.palette.faint(line));
    return this.#draw(text.trimEnd().split('\n'), ['', ...footer]);
  }

  /** Overwrites the last frame. It is cut to the height of the terminal, because it would scroll otherwise. */
  #draw(body: readonly string[], footer: readonly string[]): Promise<void> {
    const { screen, io } = this.#invocation;
    const rowsOf = (line: string) =>
      Math.max(1, Math.ceil(stripVTControlCharacters(line).length / (io.stdout.columns || 80)));
    const room = (io.stdout.rows || Number.POSITIVE_INFINITY) - 1 - footer.length;
    const shown: string[] = [];
    let rows = 0;
    for (const line of body) {
      if (rows + rowsOf(line) > room) break;
      shown.push(line);
      rows += rowsOf(line);
    }
    const hidden = body.length - shown.length;
    const lines = [
      ...shown,
      ...(hidden > 0 ? footer.with(0, `… ${hidden} more lines; a pipe receives all lines`) : footer),
    ];
    const over = this.#rows === 0 ? '' : `\u001b[${this.#rows}A\u001b[J`;
    this.#rows = rows + footer.length;
    return screen.printText(`${over}${lines.join('\n')}\n`);
  }
}
