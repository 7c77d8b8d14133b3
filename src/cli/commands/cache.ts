import { openCache } from '../cache/fetch-or-cache.ts';
import type { CommandSpec, Invocation } from '../command.ts';
import { storageError, systemReason } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { grouped } from '../output/format-text.ts';
import { printJson } from '../output/print-json.ts';
import { rowText } from '../output/rows.ts';
import { formatDuration } from '../settings/duration.ts';
import { cacheFolder } from '../storage/folders.ts';

export const cacheCommand: CommandSpec = {
  name: 'cache',
  summary: 'answers that --cache has kept: info, clear',
  description: 'Answers that were kept with latest --cache, in files that only you can read, for thirty days.',
  callsService: false,
  commands: [
    {
      name: 'info',
      summary: 'where they are, how many, how old',
      description: 'Prints where kept answers are, how many there are, their size and age.',
      examples: [{ command: 'fxrates cache info', comment: '' }],
      callsService: false,
      printsData: true,
      run: info,
    },
    {
      name: 'clear',
      summary: 'remove them all',
      description: 'Removes every kept answer.',
      examples: [{ command: 'fxrates cache clear', comment: '' }],
      callsService: false,
      run: clear,
    },
  ],
};

async function info(invocation: Invocation): Promise<number> {
  const { io, screen, settings } = invocation;
  const entries = await openCache(io).entries().catch(unusable(invocation));
  const folder = cacheFolder(io.env) ?? '';
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const ages = entries.map(({ keptAtMs }) => Math.max(0, io.clock.now() - keptAtMs));
  const [newest, oldest] = ages.length === 0 ? [] : [Math.min(...ages), Math.max(...ages)];
  if (settings.output !== 'auto' || settings.get.length > 0) {
    const seconds = (ms: number | undefined) => (ms === undefined ? null : Math.floor(ms / 1000));
    const facts = { folder, answers: entries.length, bytes };
    const ofAge = { newest_age_seconds: seconds(newest), oldest_age_seconds: seconds(oldest) };
    await printJson(JSON.stringify({ ...facts, ...ofAge }), invocation);
    return exitCodes.ok;
  }
  const age = (ms: number | undefined) => (ms === undefined ? '' : `${formatDuration(ms)} old`);
  const rows = [
    { label: 'Folder', value: folder },
    { label: 'Answers', value: grouped(entries.length) },
    { label: 'Size', value: `${grouped(bytes)} bytes` },
    ...(entries.length === 0
      ? []
      : [
          { label: 'Newest', value: age(newest) },
          { label: 'Oldest', value: age(oldest) },
        ]),
  ];
  await screen.printText(rows.map((row) => rowText(row, screen.out)).join(''));
  return exitCodes.ok;
}

async function clear(invocation: Invocation): Promise<number> {
  const { io, screen } = invocation;
  const count = await openCache(io).clear().catch(unusable(invocation));
  await screen.info(`fxrates: ${grouped(count)} kept ${count === 1 ? 'answer' : 'answers'} removed\n`);
  return exitCodes.ok;
}

function unusable({ io }: Invocation): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw storageError(`cannot use ${cacheFolder(io.env)}`, systemReason(error), error);
  };
}
