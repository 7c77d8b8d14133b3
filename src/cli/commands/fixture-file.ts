import { promises as fs } from 'node:fs';
import { isJsonObject, jsonDocuments, parseJson } from '../../json.ts';
import { checkWritable } from '../../replace-file.ts';
import { cannotWrite, fileError, usageError } from '../errors/cli-error.ts';
import { readLimited } from '../io/io.ts';
import type { Invocation } from '../parser/command.ts';
import type { Query } from '../request/send-request.ts';
import { compactJson } from '../terminal/pretty-json.ts';

/**
 * A file of recorded responses that a mock server can send: `{"base=EUR":<envelope>}` on each line, of which the last one
 * of a query counts. It can begin with an object that was written by hand, `{ "base=EUR": <envelope>, … }`, over several lines.
 *
 * @throws CliError for a file with other content, to which no response is added, and for one that cannot be written
 */
export async function requireFixture(path: string): Promise<void> {
  const stats = await fs.stat(path).catch(() => undefined);
  if (stats?.isFile()) await requireRecorded(path); // reading a pipe, such as that of `>(jq)`, would never end
  await checkWritable(path).catch(cannotWrite(path));
}

async function requireRecorded(path: string): Promise<void> {
  const bytes = await readLimited(path).catch((cause) => {
    throw fileError(`cannot read ${path}`, cause);
  });
  const text = bytes.toString();
  const [first = ''] = jsonDocuments(text);
  if (text.trim() === '' || isRecorded(parseJson(first))) return;
  throw usageError(
    `--fixture-out ${path} is not a file of recorded responses`,
    'pass a new path, or a file that --fixture-out has written',
  );
}

/** Whether the first member of an object is the envelope of a response. */
function isRecorded(value: unknown): boolean {
  const [response] = isJsonObject(value) ? Object.values(value) : [];
  return isJsonObject(response) && typeof response['success'] === 'boolean';
}

/** Adds a response with its digits unchanged; masks keys in it. */
export async function addToFixture(
  path: string,
  { query, rawBody }: { readonly query: Query; readonly rawBody: string },
  { screen }: Invocation,
): Promise<void> {
  const response = screen.secrets.redact(compactJson(rawBody));
  await appendLine(path, `{${JSON.stringify(queryText(query))}:${response}}\n`).catch(cannotWrite(path));
  await screen.remark(`response added to ${path}`);
}

/** One write, so that the lines of commands at the same time do not mix. */
async function appendLine(path: string, line: string): Promise<void> {
  const file = await fs.open(path, 'a+');
  try {
    let rest = Buffer.from(`${(await endsInLine(file)) ? '\n' : ''}${line}`);
    while (rest.length > 0) rest = rest.subarray((await file.write(rest)).bytesWritten);
  } finally {
    await file.close();
  }
}

/** Whether a file ends in the middle of a line, such as after a command that was killed. */
async function endsInLine(file: Awaited<ReturnType<typeof fs.open>>): Promise<boolean> {
  const stats = await file.stat();
  if (!stats.isFile() || stats.size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, stats.size - 1);
  return buffer.toString() !== '\n';
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
