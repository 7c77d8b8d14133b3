import { usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { requireKey } from '../settings/api-key.ts';

/** Prints the key in full, the only command that does. */
export async function printToken({ io, screen, settings, options }: Invocation): Promise<number> {
  if (screen.out.isTTY && options['show'] !== true) {
    throw usageError('refusing to show the key on a terminal', undefined, [
      'If you mean it:  fxrates auth token --show',
    ]);
  }
  const { secret, warning } = await requireKey(settings, io);
  if (warning !== undefined) await screen.warn(warning);
  await screen.printWithSecret(`${screen.isJson ? JSON.stringify({ api_key: secret }) : secret}\n`);
  return exitCodes.ok;
}
