import { promises as fs } from 'node:fs';
import { storageError, systemReason } from '../errors/cli-error.ts';
import { CliCommand } from '../parser/command.ts';
import { OTHER_CACHE_FOLDER, openCache } from '../request/response-cache.ts';
import { compiledIn } from '../settings/folders.ts';
import type { Invocation } from '../settings/settings.ts';
import { grouped } from '../terminal/text.ts';

export function cacheCommand(): CliCommand {
  const pathCommand = new CliCommand('path')
    .about({
      summary: 'path of the folder of cached responses',
      description: 'Prints the path of the folder of cached responses, even if it does not exist.',
    })
    .runs(printPath);
  const clearCommand = new CliCommand('clear')
    .about({
      summary: 'remove all cached responses',
      description: 'Removes all cached responses, and the compiled code that makes fxrates start faster.',
    })
    .runs(clear);
  return new CliCommand('cache')
    .about({
      summary: 'responses stored by --cache: path, clear',
      description:
        'The responses stored by --cache. Only you can read them. Those older than 30 days are removed when another one is stored.',
    })
    .addCommand(pathCommand)
    .addCommand(clearCommand);
}

async function printPath({ io, screen }: Invocation): Promise<void> {
  const path = openCache(io).folder;
  await screen.print(`${screen.isJson ? JSON.stringify({ path }) : path}\n`);
}

async function clear({ io, screen }: Invocation): Promise<void> {
  const cache = openCache(io);
  const failed = (cause: NodeJS.ErrnoException): never => {
    throw storageError(`cannot use ${cache.folder}`, systemReason(cause), { cause, hint: OTHER_CACHE_FOLDER });
  };
  const count = await cache.clear().catch(failed);
  // Other commands may store their code in the folder at the same time, so that it is not empty when it is removed.
  await fs.rm(compiledIn(cache.folder), { recursive: true, force: true, maxRetries: 5 }).catch(failed);
  await screen.remark(`removed ${grouped(count)} cached ${count === 1 ? 'response' : 'responses'}`);
}
