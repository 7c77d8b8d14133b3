import { visible } from '../../text.ts';
import { exitCodes, signalExitCodes } from '../io/exit-codes.ts';
import { Interrupted, WriteFailure } from '../io/io.ts';
import type { Screen } from '../terminal/screen.ts';
import { jsonLine, wrap } from '../terminal/text.ts';
import { CliError } from './cli-error.ts';
import { unexpected } from './crash-report.ts';

/** Prints `error` and returns the exit code. The stack is printed only with `-vv`. */
export async function printError(error: unknown, screen: Screen): Promise<number> {
  if (error instanceof Interrupted) return signalExitCodes[error.signalName];
  if (error instanceof WriteFailure && error.code === 'EPIPE') return exitCodes.ok; // such as `head -1`, which reads no more
  const failure = toCliError(error);
  await screen.error(screen.isJson ? jsonLine({ error: errorFacts(failure) }) : paragraph(failure, screen));
  if (screen.showsStacks) await screen.error(stackOf(error));
  return failure.exitCode;
}

function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  if (error instanceof WriteFailure) {
    const why = error.code === 'ENOSPC' ? 'no space left on the device (ENOSPC)' : cause.message;
    return new CliError('cannot write the output', { code: 'output', why, cause });
  }
  const { why, nextStep } = unexpected(error);
  return new CliError('unexpected failure', { code: 'internal', why, hints: [nextStep], cause });
}

function paragraph({ message, details }: CliError, { err }: Screen): string {
  const { facts: { request_id: id } = {}, hints: nextSteps = [] } = details;
  const hints = id === undefined ? nextSteps : [`Request ID: ${id}`, ...nextSteps];
  const [what = '', ...why] = visible(`fxrates: ${message}`).split(' — ');
  const lines = [[err.palette.failure(what), ...why].join(' — ')];
  if (hints.length > 0) lines.push('', ...hints.flatMap((hint) => hintLines(visible(hint), err)));
  return `${lines.join('\n')}\n`;
}

/** A sentence is broken at words. A command, alone or after a label and two spaces, is there to be copied. */
function hintLines(hint: string, { isTTY, columns }: Screen['err']): string[] {
  const isCopied = !isTTY || /^(fxrates|chmod|export) | {2}/.test(hint);
  return (isCopied ? [hint] : wrap(hint, columns - 2)).map((line) => `  ${line}`);
}

/** A failure for programs. */
export function errorFacts(error: CliError): object {
  const { code, facts, hints = [] } = error.details;
  const hint = hints.length > 0 ? hints.join('\n') : undefined;
  return { code, message: error.message, ...facts, hint, exit_code: error.exitCode };
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause !== undefined ? `Caused by: ${stackOf(error.cause)}` : '';
  return `${visible(error.stack ?? '')}\n${cause}`;
}
