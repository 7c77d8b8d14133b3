import { isJson } from '../../../json.ts';
import { CliError, systemReason, usageError } from '../../errors/cli-error.ts';
import { type Io, readLimited } from '../../io/io.ts';
import { checkParameter, parseParameters, refusePastedQuery } from '../../parser/parameters.ts';
import type { Query } from '../../settings/settings.ts';
import { memberTexts } from '../../terminal/json-text.ts';

const MOST_FAULTS = 10;

/**
 * The queries in a file, or on stdin for `-`: one per line, as `name=value …` or as a JSON object. Empty lines and those
 * that begin with `#` are skipped. `complete` adds to a query what all have. @throws CliError that names every wrong line
 */
export async function readQueries(
  path: string,
  io: Pick<Io, 'stdin' | 'interrupts'>,
  complete: (query: Query) => Query,
): Promise<readonly Query[]> {
  const text = requireUtf8(await readText(path, io), path);
  const lines = text
    .split('\n')
    .map((line, index) => ({ number: index + 1, content: line.trim() }))
    .filter(({ content }) => content !== '' && !content.startsWith('#'));
  const faults: string[] = [];
  const queries = lines.flatMap(({ number, content }) => {
    try {
      return [complete(queryOfLine(content))];
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      faults.push(`line ${number}: ${error.message}`);
      return [];
    }
  });
  if (faults.length > 0) throw unusableLines(faults, path);
  return queries;
}

function whereOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** A longer line is no query: a URL has at most some thousand characters. */
const LONGEST_LINE = 100_000;

function queryOfLine(line: string): Query {
  if (line.length > LONGEST_LINE)
    throw usageError(`it has ${line.length} characters; a query has at most ${LONGEST_LINE}`);
  if (line.includes('\r')) throw usageError('it contains a carriage return; lines end with a line feed');
  if (line.startsWith('{')) return queryOfJson(line);
  const words = line.split(/\s+/);
  const quoted = words.find((word) => /^['"]|=['"]|['"]$/.test(word));
  if (quoted !== undefined) throw usageError(`${quoted} has quotes, which only a shell removes`);
  refusePastedQuery(words);
  return parseParameters(words);
}

/** `base=USD,EUR` and `date=1,2` are four queries. */
export function queriesOfEach(specs: readonly string[]): readonly Query[] {
  return specs.reduce<readonly Query[]>(
    (queries, spec) => {
      const at = spec.indexOf('=');
      const [name, values] = [spec.slice(0, at), spec.slice(at + 1).split(',')];
      // A blank after a comma is a slip: the service would get it as part of the value.
      if (at < 1 || values.some((value) => value === '' || value !== value.trim())) {
        throw usageError(`--each expects name=value,value, got '${spec}'`, 'e.g. --each base=USD,EUR,GBP');
      }
      if (queries.some((query) => Object.hasOwn(query, name))) {
        throw usageError(`--each sets '${name}' twice`, `list all values in one option: --each ${name}=A,B`);
      }
      return queries.flatMap((query) =>
        values.map((value) => ({ ...query, ...parseParameters([`${name}=${value}`]) })),
      );
    },
    [{}],
  );
}

function unusableLines(faults: readonly string[], path: string): CliError {
  const count = faults.length === 1 ? '1 line' : `${faults.length} lines`;
  const hidden = faults.length - MOST_FAULTS;
  const more = hidden > 0 ? [`and ${hidden} more`] : [];
  return usageError(`${count} of ${whereOf(path)} cannot be used`, 'nothing was sent', [
    ...faults.slice(0, MOST_FAULTS),
    ...more,
  ]);
}

async function readText(path: string, { stdin, interrupts }: Pick<Io, 'stdin' | 'interrupts'>): Promise<string> {
  const failed = (cause: NodeJS.ErrnoException) => {
    throw usageError(`cannot read the queries in ${whereOf(path)}`, systemReason(cause));
  };
  return path === '-' ? stdin.text(failed) : (await readLimited(path, interrupts.signal, failed)).toString();
}

/** @throws CliError for what Windows writes by default. Decoded as UTF-8, it would be other queries. */
function requireUtf8(text: string, path: string): string {
  if (text.includes('\0'))
    throw usageError(`cannot read the queries in ${whereOf(path)}`, 'it is UTF-16 or no text; save it as UTF-8');
  return text;
}

/** Also a line that a batch printed: `{ "query": { … }, "error": … }`. Numbers stay as they are written. */
function queryOfJson(json: string): Query {
  if (!isJson(json)) throw usageError('it is not a JSON object');
  const members = memberTexts(json);
  const printed = members.get('query');
  if (printed?.startsWith('{')) return queryOfJson(printed);
  return Object.fromEntries(Array.from(members, ([name, value]) => [name, valueOfJson(name, value)]));
}

function valueOfJson(name: string, value: string): Query[string] {
  const isList = value.startsWith('[');
  const items = isList ? [...memberTexts(value).values()] : [value];
  if (items.length === 0 || items.some((item) => /^[{[n]/.test(item))) {
    throw usageError(`'${name}' expects a string, a number, true, false or a list of at least one`);
  }
  // Not `scalarText`, which would send half a surrogate pair as its escape.
  const texts = items.map((item) => (item.startsWith('"') ? String(JSON.parse(item)) : item));
  for (const text of texts) checkParameter(name, text);
  return isList ? texts : (texts[0] ?? '');
}
