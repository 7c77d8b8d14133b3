import { Redactor } from '../../redactor.ts';
import { visible } from '../../text.ts';
import type { Env } from '../io/io.ts';
import { jsonLine } from '../terminal/text.ts';

/** The report of an uncaught error. It masks all text that looks like a key, because the keys in use are unknown here. */
export function crashReport(error: unknown, argv: readonly string[], env: Env): string {
  const secrets = new Redactor();
  secrets.protect(env['FXRATES_API_KEY'] ?? '');
  const { why, nextStep } = unexpected(error);
  const message = `unexpected failure — ${why}`;
  const isVerbose = argv.includes('-vv') || env['FXRATES_DEBUG'] === '2';
  const stack = isVerbose && error instanceof Error ? `\n${visible(error.stack ?? '')}\n` : '';
  const isJson = /(^| )(--json|(-o|--output)[ =]?json)( |$)/.test(argv.join(' ')) || env['FXRATES_OUTPUT'] === 'json';
  const text = isJson
    ? jsonLine({ error: { code: 'internal', message, exit_code: 1 } }).trimEnd()
    : `fxrates: ${visible(message)}\n\n  ${nextStep}`;
  return `${secrets.redactMessage(text + stack).replace(/Bearer [^\s"]+/g, 'Bearer …')}\n`;
}

const NEXT_STEPS = new Map([
  ['EMFILE', 'The limit on open files is too low. Raise it:  ulimit -n 256'],
  ['ENFILE', 'The system has too many files open.'],
  ['EAGAIN', 'The system refuses a resource at the moment, such as one more process.'],
  ['ENOMEM', 'The system has no memory left.'],
  ['ERR_ACCESS_DENIED', 'Node.js runs with --permission. Allow what it needs, such as --allow-child-process.'],
  ['MODULE_NOT_FOUND', 'A file of fxrates is missing. If it was upgraded just now, run the command again.'],
]);

/** What is known of an error that no command explains. */
export function unexpected(error: unknown): { readonly why: string; readonly nextStep: string } {
  // Node.js names the files that need a missing one on further lines.
  const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const bug = 'This is a bug of fxrates. Please report it with the output of the same command with -vv.';
  return { why, nextStep: NEXT_STEPS.get(code) ?? bug };
}
