import { writeFile } from 'node:fs/promises';
import type { ObservedBehaviour, ProbeFetch } from '../../mock-server/index.ts';
import { CliError } from '../errors/cli-error.ts';
import { systemReason } from '../errors/system-reason.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { openConnection } from '../request/connection.ts';
import { requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';

/** Probes a service, after telling how many requests that takes at most, and prints or writes what was observed. */
export async function probe(invocation: Invocation): Promise<number> {
  const { io, screen, args, options } = invocation;
  const settings = { ...invocation.settings, baseUrl: { text: args[0] ?? '', source: 'probe' } };
  const baseUrl = requireBaseUrl(settings).replace(/\/+$/, '');
  const { secret } = await requireKey(settings, io);
  screen.secrets.protect(secret);
  const { planProbe, probeService } = await import('../../mock-server/index.ts');
  const maxRequests = options['maxRequests'] as number | undefined; // as parsed by the option
  const { requests, charged } = planProbe(maxRequests);
  await screen.info(
    `fxrates: at most ${requests} requests to ${baseUrl}, ${charged} of which may count in the month\n`,
  );
  const { signal } = io.interrupts;
  const connection = await openConnection(io, baseUrl);
  // The built-in fetch takes any method; the client needs GET alone.
  const fetch = connection.fetch as unknown as ProbeFetch;
  const observed = await probeService(baseUrl, { apiKey: secret, maxRequests, fetch, clock: io.clock, signal })
    .catch((cause: unknown) => {
      signal.throwIfAborted();
      throw probeFailed(baseUrl, cause);
    })
    .finally(connection.close);
  await save(observed, options['out'] as string | undefined, invocation);
  await tellOutcome(observed, invocation);
  return exitCodes.ok;
}

async function save(observed: ObservedBehaviour, path: string | undefined, { screen }: Invocation): Promise<void> {
  const json = `${JSON.stringify(observed, undefined, 2)}\n`;
  if (path === undefined) return await screen.print(json);
  await writeFile(path, json).catch((cause: NodeJS.ErrnoException) => {
    const why = systemReason(cause);
    throw new CliError(`cannot write ${path}`, { code: 'file', exitCode: exitCodes.failure, why, cause });
  });
}

async function tellOutcome({ about, ...observed }: ObservedBehaviour, { screen }: Invocation): Promise<void> {
  const open = Object.keys(about.notObserved).length;
  const count = Object.keys(observed).length;
  await screen.info(`fxrates: ${count} switches observed with ${about.requests} requests, ${open} not observable\n`);
  for (const contradiction of about.contradictions) await screen.warn(`not as documented: ${contradiction}`);
}

function probeFailed(baseUrl: string, cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const why = 'code' in cause && cause.code === 'probe_failed' ? cause.message : `no answer: ${cause.message}`;
  return new CliError(`cannot probe ${baseUrl}`, { code: 'probe', exitCode: exitCodes.failure, why, cause });
}
