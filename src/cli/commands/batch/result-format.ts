import type { Invocation } from '../../command.ts';
import { type CliError, usageError } from '../../errors/cli-error.ts';
import { errorFacts } from '../../errors/print-error.ts';
import { compactJson } from '../../json/pretty-json.ts';
import type { OutputFormat } from '../../options.ts';
import { csvLine } from '../../output/delimited-text.ts';
import { selectedCsv } from '../../output/print-json.ts';
import type { Query } from '../../request/send-request.ts';
import type { GetPath } from '../../settings/settings.ts';

/** The formats of a batch. Another one has no effect if it comes from the environment or config.json. */
export const BATCH_FORMATS: readonly OutputFormat[] = ['auto', 'json', 'compact', 'csv'];

/** How the results of a batch are printed. */
export interface ResultFormat {
  /** The lines of a success. Its numbers are exactly as received. @throws CliError if a value of `--get` is missing */
  success(query: Query, json: string): string;
  /** The line of a failure; `undefined` if the format has none. */
  failure(query: Query, error: CliError): string | undefined;
  /** The line above the first success; empty from the second call on. */
  takeHeader(): string;
}

/** @throws CliError for `--get` without CSV */
export function resultFormat(queries: readonly Query[], { settings }: Invocation): ResultFormat {
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
