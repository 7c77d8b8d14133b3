import { readFile } from 'node:fs/promises';
import type { Invocation } from '../../command.ts';
import { fileError, usageError } from '../../errors/cli-error.ts';
import { jsonFault } from '../../json/json-fault.ts';
import { memberNames, selectValue } from '../../json/select-value.ts';
import type { Query } from '../../request/send-request.ts';
import { replaceFile } from '../../storage/replace-file.ts';

/** A file of recorded answers, `{ "base=EUR": <envelope>, … }`, from which a mock server can answer. */
interface Fixture {
  readonly path: string;
  /** Texts of answers by question. */
  readonly answers: ReadonlyMap<string, string>;
}

/** What is recorded already. @throws CliError for a file that holds something else */
export async function readFixture(path: string): Promise<Fixture> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return '{}';
    throw fileError(`cannot read ${path}`, cause);
  });
  const json = text.trim();
  if (jsonFault(json) !== undefined || !json.startsWith('{') || selectValue(json, ['success']) !== undefined) {
    throw usageError(
      `--fixture-out ${path} is not a file of recorded responses`,
      'the response is only added to such a file',
    );
  }
  const questions = memberNames(json, [], Number.POSITIVE_INFINITY);
  return { path, answers: new Map(questions.map((question) => [question, selectValue(json, [question]) ?? 'null'])) };
}

/** Adds an answer with the digits that came; a repeated question replaces its answer; a key in the answer is masked. */
export async function saveFixture(
  { path, answers }: Fixture,
  { query, rawBody }: { readonly query: Query; readonly rawBody: string },
  { screen }: Invocation,
): Promise<void> {
  const recorded = new Map([...answers, [questionOf(query), screen.secrets.redact(rawBody.trim())]]);
  const entries = [...recorded].map(([question, answer]) => `  ${JSON.stringify(question)}: ${answer}`);
  await replaceFile(path, `{\n${entries.join(',\n')}\n}\n`).catch((cause) => {
    throw fileError(`cannot write ${path}`, cause);
  });
  await screen.info(`fxrates: response added to ${path}\n`);
}

/** The order of parameters makes no difference to a question. */
function questionOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) parameters.append(name, String(value));
  }
  parameters.sort();
  return parameters.toString();
}
