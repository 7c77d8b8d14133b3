import type { Invocation } from '../command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { Connection } from '../request/connection.ts';
import { type ServiceRequest, type ServiceResponse, sendRequest } from '../request/send-request.ts';
import { formatDuration, parseDuration } from '../settings/duration.ts';
import { noFolder } from '../storage/config-file.ts';
import { cacheFolder } from '../storage/folders.ts';
import { jsonLine } from '../terminal/text.ts';
import { FileCacheStore } from './file-cache-store.ts';

/** `--cache 10m` or `--cache snapshot`. */
export function parseCacheAge(text: string): number | 'snapshot' {
  if (text === 'snapshot') return text;
  const maxAgeMs = parseDuration(text, '--cache');
  if (maxAgeMs > 0 && Number.isFinite(maxAgeMs)) return maxAgeMs;
  throw usageError(
    `--cache expects a time above 0 or snapshot, got '${text}'`,
    'e.g. 10m; for an older response use --offline',
  );
}

/** Sends the request, or with `--cache` and `--offline` uses a stored answer and reports its age on stderr. */
export async function fetchOrCache(request: ServiceRequest, invocation: Invocation): Promise<ServiceResponse> {
  const { options, io } = invocation;
  const age = options['cache'] as number | 'snapshot' | undefined; // as parseCacheAge made it
  if (options['offline'] === true) return readOffline(request, invocation);
  if (age === undefined) return sendRequest(request, invocation);
  const response = await sendRequest(request, invocation, { cache: { maxAgeMs: age, store: openCache(io) } });
  await reportAge(response, invocation);
  return response;
}

export function openCache(io: Pick<Io, 'env' | 'clock'>): FileCacheStore {
  const folder = cacheFolder(io.env);
  if (folder === undefined) throw noFolder();
  return new FileCacheStore(folder, io.clock);
}

/** Uses an answer of any age. The transport of this client rejects, so nothing is sent. */
async function readOffline(request: ServiceRequest, invocation: Invocation): Promise<ServiceResponse> {
  const { io, settings } = invocation;
  const offline = Object.assign(new Error('offline'), { code: OFFLINE });
  const connection: Connection = { fetch: () => Promise.reject(offline), close: async () => undefined };
  const cache = { maxAgeMs: Number.MAX_SAFE_INTEGER, store: openCache(io) };
  try {
    const once = { ...invocation, settings: { ...settings, retries: 0 } };
    const response = await sendRequest(request, once, { cache, connection });
    await reportAge(response, invocation);
    return response;
  } catch (error) {
    if (!(error instanceof CliError) || error.causeCode !== OFFLINE) throw error;
    throw new CliError('no cached response for this request', {
      code: 'not_kept',
      exitCode: exitCodes.network,
      why: '--offline sends nothing',
      hints: ['Cache it:  the same command with --cache 10m instead of --offline'],
    });
  }
}

const OFFLINE = 'FXRATES_OFFLINE';

/** Reports the age of a stored answer on stderr. */
async function reportAge({ source, ageMs }: ServiceResponse, { screen }: Invocation): Promise<void> {
  if (source !== 'cache' && source !== 'stale') return;
  const event = { event: 'kept_answer', age_seconds: Math.floor(ageMs / 1000) };
  await screen.info(screen.isJson ? jsonLine(event) : `fxrates: cached response, ${formatDuration(ageMs)} old\n`);
}
