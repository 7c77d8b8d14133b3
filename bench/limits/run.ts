import type { ServerOptions } from '../../test/helpers/limits-server.ts';
import type { CallerGroup } from './caller-group.ts';
import type { Ending, Preparation } from './caller-process.ts';
import { CONTENDERS, type Contender } from './contenders.ts';
import { startLimitedServer } from './limited-http-server.ts';
import { CALLS, GIVE_UP_MS, LIMIT, type Situation, START_IN_MINUTE_MS } from './situations.ts';
import { scaledNow, type TimeScale } from './time-scale.ts';

/** Result of a contender in a situation; times in scaled milliseconds since the start. */
export interface Run {
  /** Name in `CONTENDERS`. */
  readonly contender: string;
  readonly situation: Situation;
  readonly server: ServerOptions;
  readonly startedAt: number;
  readonly refused: number;
  readonly endings: readonly Ending[];
}

const API_KEY = `fx_live_${'0123456789abcdef'.repeat(3)}`;

/** Prepares the processes and the server, then starts all processes at once. */
export async function run(
  contender: string,
  situation: Situation,
  { group, scale }: { readonly group: CallerGroup; readonly scale: TimeScale },
): Promise<Run> {
  const now = () => scaledNow(scale);
  await using warmUp = await startLimitedServer(now);
  await using server = await startLimitedServer(now);
  warmUp.open({ window: 'sliding-log', limit: Number.POSITIVE_INFINITY, hint: 'seconds' });
  await group.prepare(preparations(contender, situation, { origin: server.origin, warmUpOrigin: warmUp.origin }));

  const startedAt = now();
  const options = serverOptions(situation, startedAt);
  server.open(options);
  const endings = await group.makeCalls(situation.processes, CALLS, GIVE_UP_MS / scale.speed);
  return { contender, situation, server: options, startedAt, refused: server.refused, endings };
}

function serverOptions({ window }: Situation, startedAt: number): ServerOptions {
  return { window, limit: LIMIT, hint: 'seconds', skewMs: START_IN_MINUTE_MS - (startedAt % 60_000) };
}

function preparations(
  contender: string,
  { processes }: Situation,
  { origin, warmUpOrigin }: { readonly origin: string; readonly warmUpOrigin: string },
): Preparation[] {
  const options = { origin, apiKey: API_KEY, perMinute: toldLimit(CONTENDERS[contender]?.told, processes) };
  const calls = CALLS / processes;
  return Array.from({ length: processes }, (_, place) => ({
    contender,
    options,
    warmUpOrigin,
    calls,
    firstCall: place * calls,
  }));
}

function toldLimit(told: Contender['told'], processes: number): number | undefined {
  if (told === undefined) return undefined;
  return told === 'limit' ? LIMIT : Math.floor(LIMIT / processes);
}
