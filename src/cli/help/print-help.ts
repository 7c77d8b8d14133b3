import { finishedTree } from '../finished-tree.ts';
import type { Io, Output } from '../io.ts';
import { pathOfHelp, readEarlyFlags } from '../settings/early-flags.ts';
import { Screen } from '../terminal/screen.ts';
import { helpText } from './command-help.ts';

/** Prints help without loading a command. False if the command line is about anything else. */
export async function printHelp(argv: readonly string[], screen: Screen): Promise<boolean> {
  const path = pathOfHelp(argv);
  const text = path && helpText(await finishedTree(), path, screen.help);
  if (text === undefined) return false;
  await screen.printText(text);
  return true;
}

/** What `printHelp` would print to this stdout; `undefined` if the command line is about anything else. */
export async function helpPage(
  argv: readonly string[],
  { env, stdout }: { readonly env: Io['env']; readonly stdout: Pick<Output, 'isTTY' | 'columns'> },
): Promise<string | undefined> {
  let page = '';
  const write = async (chunk: string | Uint8Array) => {
    page += String(chunk);
  };
  const io = { env, stdout: { ...stdout, write }, stderr: { isTTY: false, columns: undefined, write } };
  const screen = new Screen(io, readEarlyFlags(argv, env));
  screen.secrets.protect(env['FXRATES_API_KEY'] ?? '');
  return (await printHelp(argv, screen)) ? page : undefined;
}
