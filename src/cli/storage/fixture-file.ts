import { readFile } from 'node:fs/promises';
import { replaceFile } from '../../replace-file.ts';
import type { Invocation } from '../command.ts';
import { cannotWrite, fileError, usageError } from '../errors/cli-error.ts';
import { jsonFault } from '../json/json-fault.ts';
import { memberTexts, selectValue } from '../json/select-value.ts';
import type { Query } from '../request/send-request.ts';
import { withFileLock } from './json-file.ts';

/**
 * The texts of the responses by query in a file of recorded responses, `{ "base=EUR": <envelope>, … }`, which a mock server
 * can send. @throws CliError for a file with other content
 */
export async function readFixture(path: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return '{}';
    throw fileError(`cannot read ${path}`, cause);
  });
  const json = text.trim();
  if (jsonFault(json) !== undefined || !json.startsWith('{') || selectValue(json, ['success']) !== undefined) {
    throw usageError(
      `--fixture-out ${path} is not a file of recorded responses`,
      'pass a new path, or a file that --fixture-out has written',
    );
  }
  return memberTexts(json);
}

/** Adds a response with its digits unchanged, in place of an earlier one to the same query; masks keys in it. */
export async function saveFixture(
  path: string,
  { query, rawBody }: { readonly query: Query; readonly rawBody: string },
  { screen, io }: Invocation,
): Promise<void> {
  const write = async () => {
    // Again, because another command may have added a response since.
    const recorded = new Map(await readFixture(path));
    recorded.set(queryText(query), screen.secrets.redact(rawBody.trim()));
    const entries = [...recorded].map(([text, response]) => `  ${JSON.stringify(text)}: ${response}`);
    await replaceFile(path, `{\n${entries.join(',\n')}\n}\n`);
  };
  await withFileLock(path, io.clock, write).catch(cannotWrite(path));
  await screen.remark(`response added to ${path}`);
}

/** The parameters in the order of their names. */
function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) parameters.append(name, String(value));
  }
  parameters.sort();
  return parameters.toString();
}
