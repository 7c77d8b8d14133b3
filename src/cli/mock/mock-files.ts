import { readFile } from 'node:fs/promises';
import type { MockServerOptions } from '../../mock-server/index.ts';
import { CliError } from '../errors/cli-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonFault } from '../json/json-fault.ts';
import { memberNames, selectValue } from '../json/select-value.ts';

/** The presets of switches; anything else that `--behaviour` names is a file. */
const PRESETS = ['documented', 'lenient', 'hostile'] as const;

/** `--behaviour`: a preset, or a file of switches such as `fxrates mock probe` writes. */
export async function readBehaviour(text: string | undefined): Promise<MockServerOptions['behaviour']> {
  if (text === undefined) return undefined;
  const preset = PRESETS.find((name) => name === text);
  return preset ?? JSON.parse(await readJson(text, `a preset (${PRESETS.join(', ')}) or a file of switches`));
}

/** `--replay`: a file with one recorded answer, or with one for each query. Their digits stay as they are. */
export async function readReplay(path: string | undefined): Promise<MockServerOptions['replay']> {
  if (path === undefined) return undefined;
  const json = await readJson(path, 'a file of recorded answers');
  if (selectValue(json, ['success']) !== undefined) return json;
  const questions = memberNames(json, [], Number.POSITIVE_INFINITY);
  return Object.fromEntries(questions.map((question) => [question, selectValue(json, [question])]));
}

async function readJson(path: string, expected: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    throw unusable(path, `${systemReason(cause)}; expected ${expected}`, cause);
  });
  const fault = jsonFault(text);
  if (fault !== undefined) throw unusable(path, `it is not JSON from line ${fault.line}, column ${fault.column} on`);
  return text.trim();
}

function unusable(path: string, why: string, cause?: unknown): CliError {
  return new CliError(`cannot use ${path}`, { code: 'file', exitCode: exitCodes.usage, why, cause });
}
