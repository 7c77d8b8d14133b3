import { CliError, usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import type { Io } from '../io.ts';
import type { Connection } from '../request/connection.ts';
import { type Answer, askService, type ServiceRequest } from '../service/ask-service.ts';
import { formatDuration, parseDuration } from '../settings/duration.ts';
import { noFolder } from '../storage/config-file.ts';
import { cacheFolder } from './cache-folder.ts';
import { FileStore } from './file-store.ts';

/** `--cache 10m` or `--cache snapshot`. */
export function parseCacheAge(text: string): number | 'snapshot' {
  if (text === 'snapshot') return text;
  const maxAgeMs = parseDuration(text, '--cache');
  if (maxAgeMs > 0 && Number.isFinite(maxAgeMs)) return maxAgeMs;
  throw usageError(`--cache takes a time above 0 or snapshot, got '${text}'`, 'e.g. 10m; an older answer: --offline');
}

/** Asks the service, or with `--cache` and `--offline` takes the answer that is kept, and says so on stderr. */
export async function askOrRecall(request: ServiceRequest, invocation: Invocation): Promise<Answer> {
  const { options, io } = invocation;
  const age = options['cache'] as number | 'snapshot' | undefined; // as parseCacheAge made it
  if (options['offline'] === true) return recall(request, invocation);
  if (age === undefined) return askService(request, invocation);
  const answer = await askService(request, invocation, { cache: { maxAgeMs: age, store: storeOf(io) } });
  await labelAge(answer, invocation);
  return answer;
}

export function storeOf(io: Pick<Io, 'env' | 'clock' | 'pid'>): FileStore {
  const folder = cacheFolder(io.env);
  if (folder === undefined) throw noFolder();
  return new FileStore(folder, io);
}

/** Of any age, and without sending anything: the client gets a transport that refuses. */
async function recall(request: ServiceRequest, invocation: Invocation): Promise<Answer> {
  const { io, settings } = invocation;
  const offline = Object.assign(new Error('offline'), { code: OFFLINE });
  const connection: Connection = { fetch: () => Promise.reject(offline), close: async () => undefined };
  const cache = { maxAgeMs: Number.MAX_SAFE_INTEGER, store: storeOf(io) };
  try {
    const once = { ...invocation, settings: { ...settings, retries: 0 } };
    const answer = await askService(request, once, { cache, connection });
    await labelAge(answer, invocation);
    return answer;
  } catch (error) {
    if (!(error instanceof CliError) || error.causeCode !== OFFLINE) throw error;
    throw new CliError('no answer is kept for this request', {
      code: 'not_kept',
      exitCode: exitCodes.network,
      why: 'and --offline asks nobody',
      hints: ['Keep one:  the same command with --cache 10m instead of --offline'],
    });
  }
}

const OFFLINE = 'FXRATES_OFFLINE';

/** Nobody takes an old rate for a new one unawares. */
async function labelAge({ source, ageMs }: Answer, { screen }: Invocation): Promise<void> {
  if (source !== 'cache' && source !== 'stale') return;
  const event = { event: 'kept_answer', age_seconds: Math.floor(ageMs / 1000) };
  await screen.info(
    screen.isJson ? `${JSON.stringify(event)}\n` : `fxrates: kept answer, ${formatDuration(ageMs)} old\n`,
  );
}
