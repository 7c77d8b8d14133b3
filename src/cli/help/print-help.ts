import { finishedTree } from '../finished-tree.ts';
import type { Io, Output } from '../io.ts';
import { pathOfHelp, readEarlyFlags } from '../settings/early-flags.ts';
import { Screen } from '../terminal/screen.ts';
import { helpText } from './command-help.ts';

/** The help that a command line requests, made without loading a command; `undefined` for any other command line. */
export async function helpPage(
  argv: readonly string[],
  { env, stdout }: { readonly env: Io['env']; readonly stdout: Pick<Output, 'isTTY' | 'columns'> },
): Promise<string | undefined> {
  const path = pathOfHelp(argv);
  if (path === undefined) return undefined;
  let page = '';
  const write = async (chunk: string | Uint8Array) => {
    page += String(chunk);
  };
  const io = { env, stdout: { ...stdout, write }, stderr: { isTTY: false, columns: undefined, write } };
  const screen = new Screen(io, readEarlyFlags(argv, env));
  screen.secrets.protect(env['FXRATES_API_KEY'] ?? '');
  const text = helpText(await finishedTree(), path, screen.help);
  if (text === undefined) return undefined;
  await screen.printText(text);
  return page;
}
