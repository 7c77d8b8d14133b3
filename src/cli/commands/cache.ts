import { promises as fs } from 'node:fs';
import { OTHER_CACHE_FOLDER, openCache } from '../cache/fetch-or-cache.ts';
import { CliCommand, type Invocation } from '../command.ts';
import { storageError, systemReason } from '../errors/cli-error.ts';
import { dataOptions } from '../options.ts';
import { printReport, type ReportRow, reportText } from '../output/report.ts';
import { formatDuration } from '../settings/duration.ts';
import { cacheFolder, compiledFolder } from '../storage/folders.ts';
import { grouped } from '../terminal/text.ts';

export function cacheCommand(): CliCommand {
  const infoCommand = new CliCommand('info')
    .about({
      summary: 'folder, number, size and age of cached responses',
      description: 'Prints the folder, number, size and age of cached responses.',
    })
    .with(() => dataOptions())
    .runs(info);
  const clearCommand = new CliCommand('clear')
    .about({
      summary: 'remove all cached responses',
      description: 'Removes all cached responses, and the compiled code that makes fxrates start faster.',
    })
    .runs(clear);
  return new CliCommand('cache')
    .about({
      summary: 'responses stored by --cache: info, clear',
      description:
        'Shows and removes the responses stored by --cache. Only you can read them. They are removed after 30 days.',
    })
    .addCommand(infoCommand)
    .addCommand(clearCommand);
}

async function info(invocation: Invocation): Promise<void> {
  const { io, screen } = invocation;
  const entries = await openCache(io).entries().catch(unusable(invocation));
  const folder = cacheFolder(io.env) ?? '';
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const ages = entries.map(({ cachedAtMs }) => Math.max(0, io.clock.now() - cachedAtMs));
  const [newest, oldest] = ages.length === 0 ? [] : [Math.min(...ages), Math.max(...ages)];
  const seconds = (ms: number | undefined) => (ms === undefined ? null : Math.floor(ms / 1000));
  const rows = [
    { label: 'Folder', value: folder },
    { label: 'Responses', value: grouped(entries.length) },
    { label: 'Size', value: `${grouped(bytes)} bytes` },
    ...ageRow('Newest', newest),
    ...ageRow('Oldest', oldest),
  ];
  const facts = {
    ...{ folder, responses: entries.length, bytes },
    ...{ newest_age_seconds: seconds(newest), oldest_age_seconds: seconds(oldest) },
  };
  return printReport({ text: reportText(rows, screen.out), facts }, invocation);
}

function ageRow(label: string, ms: number | undefined): readonly ReportRow[] {
  return ms === undefined ? [] : [{ label, value: `${formatDuration(ms)} old` }];
}

async function clear(invocation: Invocation): Promise<void> {
  const { io, screen } = invocation;
  const count = await openCache(io).clear().catch(unusable(invocation));
  const compiled = compiledFolder(io.env);
  if (compiled !== undefined) await fs.rm(compiled, { recursive: true, force: true });
  await screen.remark(`removed ${grouped(count)} cached ${count === 1 ? 'response' : 'responses'}`);
}

function unusable({ io }: Invocation): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw storageError(`cannot use ${cacheFolder(io.env)}`, systemReason(error), {
      cause: error,
      hint: OTHER_CACHE_FOLDER,
    });
  };
}
