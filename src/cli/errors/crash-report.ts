import { visible } from '../../text.ts';
import type { Env } from '../io.ts';
import { Redactor } from '../terminal/redactor.ts';
import { jsonLine } from '../terminal/text.ts';

/** The report of an uncaught error. It masks all text that looks like a key, because the keys in use are unknown here. */
export function crashReport(error: unknown, argv: readonly string[], env: Env): string {
  const secrets = new Redactor();
  secrets.protect(env['FXRATES_API_KEY'] ?? '');
  // Node.js names the files that need a missing one on further lines.
  const [what = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const message = `unexpected failure — ${what}`;
  const isVerbose = argv.includes('-vv') || env['FXRATES_DEBUG'] === '2';
  const stack = isVerbose && error instanceof Error ? `\n${visible(error.stack ?? '')}\n` : '';
  const text = argv.includes('--json')
    ? jsonLine({ error: { code: 'internal', message, exit_code: 1 } }).trimEnd()
    : `fxrates: ${visible(message)}\n\n  ${nextStep(error)}`;
  return `${secrets.redactMessage(text + stack).replace(/Bearer [^\s"]+/g, 'Bearer …')}\n`;
}

const NEXT_STEPS: Readonly<Record<string, string>> = {
  EMFILE: 'The limit on open files is too low. Raise it:  ulimit -n 256',
  ENFILE: 'The system has too many files open.',
  MODULE_NOT_FOUND: 'A file of fxrates is missing. If it was upgraded just now, run the command again.',
};

function nextStep(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const bug = 'This is a bug of fxrates. Please report it with the output of the same command with -vv.';
  return NEXT_STEPS[code] ?? bug;
}
