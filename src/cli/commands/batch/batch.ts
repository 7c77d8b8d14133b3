import { Argument, Option } from 'commander';
import type { AnyFxRatesError, BatchItem } from '../../../client/index.ts';
import { type Operation, operations } from '../../../generated/operations.ts';
import { checkWritable, replaceFile } from '../../../replace-file.ts';
import { visible } from '../../../visible-text.ts';
import { type CachingOptions, cacheOf, cacheOption } from '../../cache/fetch-or-cache.ts';
import { CliCommand, type Invocation } from '../../command.ts';
import { CliError, cannotWrite, changedCommand, usageError, writeReason } from '../../errors/cli-error.ts';
import { errorFacts } from '../../errors/print-error.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { compactJson } from '../../json/pretty-json.ts';
import { connectionOptions, dataOptions, fileOption, type OutputFormat, repeatableOption } from '../../options.ts';
import { csvLine } from '../../output/delimited-text.ts';
import { dataOf, selectedCsv } from '../../output/print-json.ts';
import { namedQuery, type ParamOptions, parameterOption, parseParameters } from '../../parameters.ts';
import { LONGEST_RETRY_AFTER_MS } from '../../request/explain-error.ts';
import { callClient, type OpenClient, openClient, type Query } from '../../request/send-request.ts';
import type { GetPath } from '../../settings/settings.ts';
import { rememberCurrencies } from '../../storage/seen-currencies.ts';
import { grouped } from '../../terminal/text.ts';
import { ProgressView } from './batch-progress.ts';
import { queriesOfEach, readQueries } from './read-queries.ts';

const WITH_QUERY = Object.values<Operation>(operations).filter(({ query }) => query !== 'none');
const NAMES = WITH_QUERY.map(({ id }) => id);
const DEFAULT_OPERATION = operations.latest;
const OPERATION_TEXT = `${NAMES.join(', ')} (default: latest), and a file of queries (default: stdin, unless it is a terminal)`;

interface BatchCommandOptions extends ParamOptions, CachingOptions {
  readonly each?: readonly string[];
  readonly ordered?: boolean;
  readonly failedOut?: string;
}

export function batchCommand(): CliCommand {
  return new CliCommand('batch')
    .about({
      summary: 'many queries, as fast as the limit per minute allows',
      description:
        'Calls an operation, by default latest, once for each query in a file or on stdin, and prints one JSON line per query as soon as its response arrives: {"query", "data"} or {"query", "error"}. With -o csv it prints a table. The exit code is 0 if all queries succeeded, and 1 if a query failed. It is 4 if the service refuses the key, and 8 if the monthly quota is used up.',
      examples: [
        { command: 'fxrates batch queries.txt', comment: 'lines such as: base=USD symbols=EUR,GBP' },
        { command: 'fxrates batch --each base=USD,EUR,GBP', comment: 'three queries' },
        { command: 'fxrates batch --each base=USD,EUR -o csv --get rates.GBP', comment: 'a table of two rows' },
        { command: 'fxrates batch queries.txt --failed-out failed.txt', comment: '' },
        { command: 'fxrates batch failed.txt', comment: 'the failed queries again' },
        { command: 'fxrates batch queries.txt --cache 1h', comment: 'no second request for a query within an hour' },
      ],
      notes: [
        'A line contains name=value words or a JSON object. Empty lines and lines that start with # are skipped. Invalid lines are reported before anything is sent.',
        'Queries wait for the limit per minute as long as necessary. --max-wait limits a single Retry-After and has no effect below 10m. With --no-wait, queries fail instead of waiting.',
      ],
    })
    .takes(new Argument('[operation]', OPERATION_TEXT), NAMES)
    .takes(new Argument('[file]'))
    .with(() => [
      repeatableOption('--each <name=values>', 'a query for each value, e.g. base=USD,EUR (repeatable)'),
      parameterOption(),
      cacheOption('use cached responses up to this age: 10m, snapshot'),
      new Option('--ordered', 'print the responses in the order of the queries'),
      fileOption('--failed-out <file>', 'write failed and unsent queries to a file'),
      ...dataOptions('fxrates batch', BATCH_FORMATS),
      ...connectionOptions(),
    ])
    .runs(runBatch);
}

async function runBatch(invocation: Invocation<BatchCommandOptions>): Promise<number> {
  const source = sourceOf(invocation);
  const { operation } = source;
  const queries = await queriesOf(source, invocation);
  const { failedOut } = invocation.options;
  if (failedOut !== undefined) {
    await checkWritable(failedOut).catch((cause) => {
      throw usageError(`cannot write ${failedOut}`, writeReason(cause));
    });
  }
  const { settings } = invocation;
  const format = resultFormat(queries, invocation);
  const maxWaitMs = settings.maxWaitMs === 0 ? 0 : Math.max(settings.maxWaitMs, LONGEST_RETRY_AFTER_MS);
  const batchInvocation = { ...invocation, settings: { ...settings, maxWaitMs } };
  const progress = new ProgressView(batchInvocation, queries.length);
  const run: BatchRun = {
    invocation: batchInvocation,
    operation,
    queries,
    format,
    progress,
    failed: new Set(),
    printed: new Set(),
    cached: 0,
    hasSuccess: false,
    hasCheckedKey: false,
    failureCode: exitCodes.failure,
  };
  try {
    const client = await openClient(batchInvocation, { reporter: progress.reporter, cache: cacheOf(invocation) });
    progress.start();
    await sendAll(run, client).finally(client.close);
  } finally {
    const failed = [...run.failed].filter((query) => run.printed.has(query));
    await progress.end({ done: run.printed.size, failed: failed.length, cached: run.cached });
    if (failedOut !== undefined) await writeFailed(failedOut, run);
  }
  return run.failed.size === 0 ? exitCodes.ok : run.failureCode;
}

/** What `fxrates batch [operation] [file]` calls, and where the queries are. */
interface QuerySource {
  readonly operation: Operation;
  /** A path, or `-` for stdin; `undefined` with `--each`. */
  readonly path: string | undefined;
  readonly each: readonly string[];
}

/** The first word is an operation, or else the file of queries of the default operation. */
function sourceOf({ args, options, io, settings }: Invocation<BatchCommandOptions>): QuerySource {
  const { each = [] } = options;
  const [first = ''] = args;
  const isNamed = args.length > 1 || Object.hasOwn(operations, first);
  const operation = isNamed ? operationOf(first) : DEFAULT_OPERATION;
  const file = isNamed ? args[1] : args[0];
  const readsStdin = file === '-' || (file === undefined && each.length === 0 && !io.stdin.isTTY);
  if (readsStdin && settings.keyStdin) throw usageError('--key-stdin and - cannot be used together', 'both read stdin');
  const path = readsStdin ? '-' : file;
  if ((path === undefined) === (each.length === 0)) throw noQueries();
  return { operation, path, each };
}

function noQueries(): CliError {
  return usageError('batch expects a file of queries or --each', 'pass one of them', [
    'fxrates batch queries.txt',
    'fxrates batch --each base=USD,EUR',
  ]);
}

function operationOf(name: string): Operation {
  const operation = WITH_QUERY.find(({ id }) => id === name);
  if (operation !== undefined) return operation;
  throw usageError(`batch expects an operation with a query, got '${name}'`, undefined, [
    `Operations with a query: ${NAMES.join(', ')}`,
  ]);
}

/** Parameters typed with -p apply to all queries. Those of a query take precedence. */
async function queriesOf(
  { operation, path, each }: QuerySource,
  { options, io }: Invocation<BatchCommandOptions>,
): Promise<readonly Query[]> {
  const shared = parseParameters(options.param ?? []);
  const queries = path === undefined ? queriesOfEach(each) : await readQueries(path, io);
  const whole = queries.map((query) => ({ ...query, ...shared, ...query })); // its own parameters are the first columns
  return operation.query === 'named' ? whole.map((query) => namedQuery(operation, query, {})) : whole;
}

interface BatchRun {
  readonly invocation: Invocation<BatchCommandOptions>;
  readonly operation: Operation;
  readonly queries: readonly Query[];
  readonly format: ResultFormat;
  readonly progress: ProgressView;
  readonly failed: Set<Query>;
  /** Queries whose line was written: only these are done. */
  readonly printed: Set<Query>;
  /** Cached responses, from --cache. */
  cached: number;
  /** Whether a response had all that is printed of it. */
  hasSuccess: boolean;
  /** Whether `quota()` was called after a 403. */
  hasCheckedKey: boolean;
  /** The exit code if a query failed. */
  failureCode: ExitCode;
}

type Item = BatchItem<Query, unknown>;

async function sendAll(run: BatchRun, client: OpenClient): Promise<void> {
  const { invocation, operation, queries, progress } = run;
  const { io, settings } = invocation;
  const lines = new ResultPrinter(run);
  const left = new Set(queries);
  const batch = client.fx.batch(queries, {
    operation: operation.id as 'latest', // any operation with a query; the types know one of them
    signal: progress.reporter.signal,
    onLimit: settings.maxWaitMs === 0 ? 'throw' : 'wait',
    onProgress: progress.update,
  });
  const record = async (query: Query, item: Item) => {
    left.delete(query);
    await lines.add(query, await textOf(query, item, { run, client }));
  };
  let lastBody: string | undefined;
  try {
    for await (const item of batch) {
      await record(item.query, item);
      lastBody = item.meta?.rawBody ?? lastBody;
      run.cached += Number(item.meta?.source === 'cache');
      run.failureCode = await failureCodeAfter(item, { run, client });
      if (run.failureCode !== exitCodes.authentication) continue;
      for (const query of [...left]) await record(query, { ...item, query });
      break;
    }
  } catch (error) {
    throw client.explained(error);
  } finally {
    if (lastBody !== undefined) await rememberCurrencies(lastBody, io.env);
    await lines.flush();
  }
}

/** The exit code if a query failed, after the failure of `item`: a used-up quota and a refused key fail all later queries. */
async function failureCodeAfter(item: Item, batch: InBatch): Promise<ExitCode> {
  if (item.error?.kind === 'quota_exhausted') return exitCodes.quota;
  return (await isKeyRefused(item, batch)) ? exitCodes.authentication : batch.run.failureCode;
}

/**
 * Whether no query can succeed with this key. The service does not document the status of a revoked key, and a 403 can be
 * about one query. A call of `quota()`, which is free, distinguishes them; it is made after the first 403.
 */
async function isKeyRefused({ error }: Item, { run, client }: InBatch): Promise<boolean> {
  if (error?.kind !== 'authentication') return false;
  if (error.status !== 403) return true;
  if (run.hasCheckedKey) return false;
  run.hasCheckedKey = true;
  const { signal } = run.progress.reporter;
  const quota = callClient(client.fx, { operation: operations.quota, query: {} }, { signal, priority: 'high' });
  const failure = await quota.then(
    () => undefined,
    (cause: AnyFxRatesError) => cause,
  );
  return failure?.kind === 'authentication';
}

/** What is printed for a query. Prints its failure to stderr, too. */
async function textOf(query: Query, item: Item, { run, client }: InBatch): Promise<string> {
  const { format, failed, progress } = run;
  try {
    if (item.error !== undefined) throw client.explained(item.error);
    const lines = format.success(query, dataOf(item.meta.rawBody));
    run.hasSuccess = true;
    return lines;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    // A wrong path of --get: further requests would use quota for nothing.
    if (item.error === undefined && !run.hasSuccess) throw error;
    failed.add(query);
    const line = format.failure(query, error) ?? '';
    const text = `fxrates: ${queryText(query)}: ${visible(error.message)}\n`;
    await progress.printFailure(text, { isPrinted: line !== '', count: failed.size });
    return line;
  }
}

interface InBatch {
  readonly run: BatchRun;
  readonly client: OpenClient;
}

/** Such as `base=USD symbols=EUR`. */
function queryText(query: Query): string {
  const words = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => `${name}=${one}`));
  return words.length === 0 ? 'the query without parameters' : visible(words.join(' '));
}

/** Prints lines as they arrive or, with `--ordered`, each after those of earlier queries. */
class ResultPrinter {
  readonly #run: BatchRun;
  readonly #isOrdered: boolean;
  readonly #buffered = new Map<Query, string>();
  #next = 0;

  constructor(run: BatchRun) {
    this.#run = run;
    this.#isOrdered = run.invocation.options.ordered === true;
  }

  async add(query: Query, line: string): Promise<void> {
    if (!this.#isOrdered) return this.#print(query, line);
    this.#buffered.set(query, line);
    const { queries } = this.#run;
    for (let next = queries[this.#next]; next !== undefined; next = queries[this.#next]) {
      const ready = this.#buffered.get(next);
      if (ready === undefined) return;
      this.#buffered.delete(next);
      this.#next += 1;
      await this.#print(next, ready);
    }
  }

  /** After an early end: prints the responses that still wait for their turn, because they have used quota. */
  async flush(): Promise<void> {
    for (const query of this.#run.queries) {
      const line = this.#buffered.get(query);
      this.#buffered.delete(query);
      if (line !== undefined) await this.#print(query, line);
    }
  }

  async #print(query: Query, line: string): Promise<void> {
    const { progress, format } = this.#run;
    if (line !== '') await progress.print(format.takeHeader() + line);
    this.#run.printed.add(query);
  }
}

/** Writes the failed queries and, after an early end, those whose result was not printed. */
async function writeFailed(path: string, { queries, failed, printed, invocation }: BatchRun): Promise<void> {
  const again = queries.filter((query) => failed.has(query) || !printed.has(query));
  const lines = again.map((query) => `${JSON.stringify(query)}\n`);
  await replaceFile(path, lines.join('')).catch(cannotWrite(path));
  if (lines.length === 0) return;
  const count = `${grouped(lines.length)} ${lines.length === 1 ? 'query' : 'queries'}`;
  const { screen } = invocation;
  if (!screen.isJson)
    await screen.info(`fxrates: ${count} written to ${visible(path)}; again:  ${againWith(path, invocation)}\n`);
}

/** The typed command with `path` as its file of queries. */
function againWith(path: string, { argv, args }: Invocation): string {
  const file = args.findLast((word) => !Object.hasOwn(operations, word));
  if (file === undefined) return changedCommand(argv, { without: ['--each='], add: [path] });
  return changedCommand(argv.with(argv.lastIndexOf(file), path), {});
}

/** The formats of a batch. Another one has no effect if it comes from the environment or config.json. */
const BATCH_FORMATS: readonly OutputFormat[] = ['auto', 'json', 'compact', 'csv'];

/** How the results of a batch are printed. */
interface ResultFormat {
  /** The lines of a success. Its numbers are exactly as received. @throws CliError if a value of `--get` is missing */
  success(query: Query, json: string): string;
  /** The line of a failure; `undefined` if the format has none. */
  failure(query: Query, error: CliError): string | undefined;
  /** The line above the first success; empty from the second call on. */
  takeHeader(): string;
}

/** @throws CliError for `--get` without CSV */
function resultFormat(queries: readonly Query[], { settings }: Invocation): ResultFormat {
  if (settings.output === 'csv') return new Csv(queries, settings.get);
  if (settings.get.length === 0) return JSON_LINES;
  throw usageError('--get selects values of a batch only with -o csv', 'otherwise, each line is a whole response', [
    "One value of each as JSON:  fxrates batch … | jq '.data.rates.EUR'",
  ]);
}

const JSON_LINES: ResultFormat = {
  success: (query, json) => `{"query":${JSON.stringify(query)},"data":${compactJson(json)}}\n`,
  failure: (query, error) => `{"query":${JSON.stringify(query)},"error":${JSON.stringify(errorFacts(error))}}\n`,
  takeHeader: () => '',
};

/** One document for all queries: a column for each of their parameters, then the columns of `fxrates latest -o csv`. */
class Csv implements ResultFormat {
  readonly #names: readonly string[];
  readonly #get: readonly GetPath[];
  /** `undefined` before the first success; empty after it was taken. */
  #header: string | undefined;

  constructor(queries: readonly Query[], get: readonly GetPath[]) {
    this.#names = [...new Set(queries.flatMap((query) => Object.keys(query)))];
    this.#get = get;
  }

  success(query: Query, json: string): string {
    const { header, rows } = selectedCsv(json, this.#get);
    this.#header ??= `${csvLine([...this.#names, ...header])}\n`;
    const values = new Map(Object.entries(query)); // a name such as constructor is in every object
    const asked = this.#names.map((name) => [values.get(name) ?? ''].flat().join(' '));
    return Array.from(rows, (row) => `${csvLine([...asked, ...row])}\n`).join('');
  }

  failure(): undefined {}

  takeHeader(): string {
    const header = this.#header ?? '';
    this.#header = '';
    return header;
  }
}
