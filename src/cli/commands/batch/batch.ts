import { Argument } from 'commander';
import type { AnyFxRatesError, BatchItem, QuotaExhaustedError } from '../../../client/index.ts';
import { operations } from '../../../generated/operations.ts';
import { replaceFile } from '../../../replace-file.ts';
import { visible } from '../../../text.ts';
import { CliError, cannotWrite, usageError } from '../../errors/cli-error.ts';
import { errorFacts } from '../../errors/print-error.ts';
import { type ExitCode, exitCodes } from '../../io/exit-codes.ts';
import { dataOf, tableDocument, VALUE_COLUMNS } from '../../output/print-json.ts';
import { CliCommand } from '../../parser/command.ts';
import { joinParameters, parameterOptions, parametersOf, queryOf, wordsOf } from '../../parser/parameters.ts';
import { LONGEST_RETRY_AFTER_MS } from '../../request/explain-error.ts';
import { cacheOf } from '../../request/response-cache.ts';
import { type OpenClient, withClient } from '../../request/send-request.ts';
import {
  CliOption,
  connectionOptions,
  dataOptions,
  fileOption,
  repeatableOption,
  type ValuesOf,
} from '../../settings/options.ts';
import { checkOutputFile } from '../../settings/resolve-key.ts';
import type { CliSettings, Invocation, Query } from '../../settings/settings.ts';
import type { OutputFormat } from '../../settings/values.ts';
import { compactJson } from '../../terminal/json-text.ts';
import { grouped } from '../../terminal/text.ts';
import { cacheOption } from '../operation.ts';
import { ProgressView } from './batch-progress.ts';
import { queriesOfEach, readQueries } from './read-queries.ts';

const batchOptions = () => [
  repeatableOption(
    '--each <name=values>',
    'a query for each value, e.g. base=USD,EUR (repeatable)',
    wordsOf(operations.latest),
  ),
  ...parameterOptions([operations.latest]),
  cacheOption('use cached responses up to this age: 10m, snapshot'),
  new CliOption('--ordered', 'print the responses in the order of the queries'),
  fileOption('--failed-out <file>', 'replace this file by the failed and unsent queries'),
];

type BatchCommandOptions = ValuesOf<typeof batchOptions>;

export function batchCommand(): CliCommand {
  return new CliCommand('batch')
    .about({
      summary: 'many queries, as fast as the limit per minute allows',
      description:
        'Calls latest once for each query in a file or on stdin, and prints one JSON line per query as soon as its response arrives: {"query", "data"} or {"query", "error"}. On a terminal and with -o csv it prints a table. The exit code is not 0 if a query failed.',
      examples: [
        { command: 'fxrates batch queries.txt', comment: 'lines such as: base=USD symbols=EUR,GBP' },
        { command: 'fxrates batch --each base=USD,EUR,GBP', comment: 'three queries' },
        { command: 'fxrates batch --each base=USD,EUR -o csv --get rates.GBP', comment: 'a table of two rows' },
        { command: 'fxrates batch queries.txt --failed-out failed.txt', comment: '' },
        { command: 'fxrates batch failed.txt', comment: 'the failed queries again' },
      ],
      notes: [
        'A line contains name=value words or a JSON object; jq -c converts other JSON. Empty lines and lines that start with # are skipped. Invalid lines are reported before anything is sent.',
        'Queries wait for the limit per minute as long as necessary. If none finishes for 15m, or twice a --max-wait above 10m, the batch ends. --max-wait limits a single Retry-After and has no effect below 10m. With --no-wait, queries fail instead of waiting.',
      ],
    })
    .takes(new Argument('[file]', 'a file of queries (default: stdin, unless it is a terminal)'))
    .with(batchOptions)
    .with(() => [...dataOptions(BATCH_FORMATS), ...connectionOptions()])
    .runs(runBatch);
}

async function runBatch(given: Invocation<BatchCommandOptions>): Promise<number> {
  given.io.neverBlock(); // an interrupted batch writes the file of --failed-out
  const queries = await queriesOf(given);
  const { failedOut } = given.options;
  if (failedOut !== undefined) await checkOutputFile(failedOut, given);
  const { settings } = given;
  const maxWaitMs = settings.maxWaitMs === 0 ? 0 : Math.max(settings.maxWaitMs, LONGEST_RETRY_AFTER_MS);
  const invocation = { ...given, settings: { ...settings, maxWaitMs } };
  const run = new BatchRun(invocation, queries);
  try {
    const { reporter } = run.progress;
    await withClient(invocation, { reporter, cache: cacheOf(invocation) }, (client) => run.send(client));
  } finally {
    if (failedOut !== undefined) await writeFailed(failedOut, run.queriesToSendAgain(), invocation);
  }
  return run.exitCode();
}

/** Parameters typed with -p apply to all queries. Those of a query take precedence. */
async function queriesOf(invocation: Invocation<BatchCommandOptions>): Promise<readonly Query[]> {
  const { each = [] } = invocation.options;
  const path = pathOf(invocation);
  const shared = joinParameters(parametersOf(invocation.options, operations.latest));
  // The parameters of a query are its first columns.
  const complete = (query: Query) => queryOf(operations.latest, { ...query, ...shared, ...query });
  const queries =
    path === undefined ? queriesOfEach(each).map(complete) : await readQueries(path, invocation.io, complete);
  // Without a file, such as in a job of cron: an explicit empty file, or `-`, is a batch without queries.
  if (queries.length === 0 && invocation.args.length === 0)
    throw usageError('there are no queries on standard input', 'it is empty or closed', WAYS_IN);
  return queries;
}

const WAYS_IN = ['fxrates batch queries.txt', 'fxrates batch --each base=USD,EUR'];

/** The file of queries, or `-` for stdin; `undefined` with `--each`. */
function pathOf({ args: [file], options, io, settings }: Invocation<BatchCommandOptions>): string | undefined {
  const isEach = options.each !== undefined;
  const readsStdin = file === '-' || (file === undefined && !isEach && !io.stdin.isTTY);
  if (readsStdin && settings.keyStdin)
    throw usageError('--key-stdin and queries on stdin cannot be used together', 'pass a file or --each');
  const path = readsStdin ? '-' : file;
  if (path === '')
    throw usageError("batch expects a file of queries, got ''", 'a variable of the shell may not be set');
  if ((path === undefined) === isEach) return path;
  throw usageError('batch expects a file of queries or --each', 'pass one of them', WAYS_IN);
}

type Item = BatchItem<Query, unknown>;

/** Failures with a line of data that are also named on stderr. */
const MOST_NAMED = 3;

class BatchRun {
  readonly progress: ProgressView;
  readonly #invocation: Invocation<BatchCommandOptions>;
  readonly #queries: readonly Query[];
  readonly #format: Format;
  /** Queries whose response was printed. */
  readonly #succeeded = new Set<Query>();
  #failed = 0;
  #unsent = 0;
  #overQuota = 0;
  #failureCode: ExitCode = exitCodes.failure;

  constructor(invocation: Invocation<BatchCommandOptions>, queries: readonly Query[]) {
    this.#invocation = invocation;
    this.#queries = queries;
    this.#format = formatOf(queries, invocation);
    this.progress = new ProgressView(invocation, queries.length);
  }

  async send(client: OpenClient): Promise<void> {
    const { settings, options } = this.#invocation;
    const queries = this.#queries as Iterable<never>; // `queryOf` has found the parameters that the contract requires
    const batch = client.fx.batch(queries, {
      signal: this.progress.reporter.signal,
      onLimit: settings.maxWaitMs === 0 ? 'throw' : 'wait',
      onProgress: this.progress.update,
    });
    const items = this.#withRefusals(batch, client);
    void this.progress.run(client.fx);
    try {
      for await (const item of options.ordered ? inOrder(items, this.#queries) : items)
        await this.#report(item, client);
    } finally {
      const done = this.#succeeded.size + this.#failed;
      await this.progress.end({ done, failed: this.#failed, unsent: this.#unsent, overQuota: this.#overQuota });
    }
  }

  exitCode(): ExitCode {
    return this.queriesToSendAgain().length === 0 ? exitCodes.ok : this.#failureCode;
  }

  /** The failed queries and, after an early end, those whose result was not printed. */
  queriesToSendAgain(): readonly Query[] {
    return this.#queries.filter((query) => !this.#succeeded.has(query));
  }

  /**
   * The results. Once no query can succeed with this key, all others fail in the same way. The service does not document
   * the status of a revoked key, and a 403 can be about one query, so `quota()`, which is free, is called after the first.
   */
  async *#withRefusals(batch: AsyncIterable<Item>, { fx }: OpenClient): AsyncGenerator<Item> {
    const left = new Set(this.#queries);
    const { signal } = this.progress.reporter;
    let isRefusedBy403: Promise<boolean> | undefined;
    for await (const item of batch) {
      left.delete(item.query);
      yield item;
      if (item.error?.kind !== 'authentication') continue;
      if (item.error.status === 403) {
        isRefusedBy403 ??= fx.get(operations.quota.path, { signal, priority: 'high' }).then(
          () => false,
          ({ kind }: AnyFxRatesError) => kind === 'authentication',
        );
        if (!(await isRefusedBy403)) continue;
      }
      this.#failureCode = exitCodes.authentication;
      for (const query of left) yield { ...item, query };
      return;
    }
  }

  async #report(item: Item, client: OpenClient): Promise<void> {
    const { query } = item;
    const { lines, failure } = this.#resultOf(item, client);
    if (failure !== undefined) await this.#nameFailure(query, failure, lines !== '');
    if (lines !== '') await this.progress.print(lines);
    if (item.meta !== undefined && item.meta.source !== 'network') this.#unsent += 1;
    if (failure === undefined) this.#succeeded.add(query);
    else this.#failed += 1;
  }

  /** On stderr. If the failure also has a line of data, only the first are named, and only if that line is not on the terminal. */
  async #nameFailure(query: Query, { message }: CliError, hasLine: boolean): Promise<void> {
    const { screen } = this.#invocation;
    if (hasLine && (screen.out.isTTY || screen.isJson || this.#failed >= MOST_NAMED)) return;
    const text = `fxrates: ${queryText(query)}: ${visible(message)}\n`;
    await screen.error(text);
  }

  #resultOf({ query, meta, error }: Item, client: OpenClient): { readonly lines: string; readonly failure?: CliError } {
    try {
      if (error !== undefined) throw client.explained(error);
      return { lines: this.#format.success(query, dataOf(meta.rawBody)) };
    } catch (failure) {
      // A wrong path of --get: further requests would use quota for nothing.
      if (!(failure instanceof CliError) || (error === undefined && this.#succeeded.size === 0)) throw failure;
      if (error?.kind === 'quota_exhausted') this.#noteOverQuota(error);
      return { lines: this.#format.failure(query, failure), failure };
    }
  }

  #noteOverQuota({ attempts, local }: QuotaExhaustedError): void {
    this.#failureCode = exitCodes.quota;
    this.#overQuota += 1;
    // If it was not sent, its last 429 was about the limit.
    if (!local && attempts.at(-1)?.status === 429) this.progress.noteOverQuota();
  }
}

/**
 * The results in the order of their queries. After an early end, those that waited for their turn follow, because they have
 * used quota.
 */
async function* inOrder(items: AsyncIterable<Item>, queries: readonly Query[]): AsyncGenerator<Item> {
  const waiting = new Map<Query | undefined, Item>();
  const take = (query: Query | undefined) => {
    const item = waiting.get(query);
    waiting.delete(query);
    return item === undefined ? [] : [item];
  };
  let turn = 0;
  try {
    for await (const item of items) {
      waiting.set(item.query, item);
      for (; waiting.has(queries[turn]); turn += 1) yield* take(queries[turn]);
    }
  } catch (error) {
    yield* queries.flatMap(take);
    throw error;
  }
}

function queryText(query: Query): string {
  const words = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => `${name}=${one}`));
  return words.length === 0 ? 'the query without parameters' : visible(words.join(' '));
}

async function writeFailed(path: string, queries: readonly Query[], invocation: Invocation): Promise<void> {
  const lines = queries.map((query) => `${JSON.stringify(query)}\n`);
  await replaceFile(path, lines.join('')).catch(cannotWrite(path));
  if (lines.length === 0) return;
  const count = `${grouped(lines.length)} ${lines.length === 1 ? 'query' : 'queries'}`;
  await invocation.screen.remark(`${count} written to ${visible(path)}; run the batch again with this file`);
}

/** The formats of a batch. Another one has no effect if it comes from the environment or config.json. */
const BATCH_FORMATS: readonly OutputFormat[] = ['auto', 'table', 'json', 'csv'];

interface Format {
  /** The lines of a success. Its numbers are exactly as received. @throws CliError if a value of `--get` is missing */
  readonly success: (query: Query, json: string) => string;
  /** The line of a failure; empty if the format has none. */
  readonly failure: (query: Query, error: CliError) => string;
}

/** @throws CliError for `--get`, which JSON lines do not have */
function formatOf(queries: readonly Query[], { settings, screen }: Invocation): Format {
  if (settings.output === 'csv') return table('csv', queries, settings);
  if (screen.isForPeople) return table('table', queries, settings);
  if (settings.get.length === 0) return JSON_LINES;
  throw usageError(
    '--get selects values of a batch only with -o csv or table',
    'otherwise, each line is a whole response',
    ["One value of each as JSON:  fxrates batch … | jq '.data.rates.EUR'"],
  );
}

const JSON_LINES: Format = {
  success: (query, json) => `{"query":${JSON.stringify(query)},"data":${compactJson(json)}}\n`,
  failure: (query, error) => `{"query":${JSON.stringify(query)},"error":${JSON.stringify(errorFacts(error))}}\n`,
};

/** One document for all queries: a column for each of their parameters, then the columns of `fxrates latest -o csv`. */
function table(format: 'csv' | 'table', queries: readonly Query[], { get }: Pick<CliSettings, 'get'>): Format {
  const names = [...new Set(queries.flatMap((query) => Object.keys(query)))];
  const taken = [...VALUE_COLUMNS, ...get.map(({ text }) => text)];
  const columns = names.map((name) => (taken.includes(name) ? `query.${name}` : name));
  const linesOf = tableDocument(format, { names: columns, get, allowsGaps: true });
  return {
    success: (query, json) => {
      const values = new Map(Object.entries(query)); // a name such as constructor is in every object
      const cells = names.map((name) => [values.get(name) ?? ''].flat().join(' '));
      return Array.from(linesOf(cells, json), (line) => `${line}\n`).join('');
    },
    failure: () => '',
  };
}
