/** Started by caller-group.ts: prepares a contender, waits for the start, then makes its calls. */
import type { Call, CallerOptions, CreateCaller } from './contender.ts';
import { installTimeScale, type TimeScale } from './time-scale.ts';

/** Given at the start of the process: its time scale, and all files that it may have to import. */
export interface Equipment {
  readonly scale: TimeScale;
  readonly files: readonly string[];
}

export type Order = Preparation | 'start';

export interface Preparation {
  /** File name in `contenders/`. */
  readonly file: string;
  readonly options: CallerOptions;
  /** A server without a limit for a first call, so that compiling and connecting are not measured. */
  readonly warmUpOrigin: string;
  readonly firstCall: number;
  readonly calls: number;
}

/**
 * Messages of the process: `ready` when it can accept an order and when it is prepared, then each call when it ends.
 */
export type Message = 'ready' | Ending;

/** The end of a call, in scaled milliseconds since the start. */
export interface Ending {
  readonly ok: boolean;
  readonly ms: number;
  readonly error?: string;
}

const WARM_UP_CALLS = 50;
const WARM_UP_PER_MINUTE = 1_000;

const { scale, files } = JSON.parse(process.argv[2] ?? '') as Equipment;
installTimeScale(scale);
for (const file of files) await import(`./contenders/${file}`);
let makeCalls: () => void = () => undefined;
process.on('disconnect', () => process.exit());
process.on('message', async (order: Order) => {
  if (order === 'start') return makeCalls();
  makeCalls = await prepare(order);
  send('ready');
});
send('ready');

async function prepare({ file, options, warmUpOrigin, firstCall, calls }: Preparation): Promise<() => void> {
  const { createCaller } = (await import(`./contenders/${file}`)) as { createCaller: CreateCaller };
  const warmUp = await createCaller({ ...options, origin: warmUpOrigin, perMinute: WARM_UP_PER_MINUTE });
  await Promise.allSettled(numbers(0, WARM_UP_CALLS).map(warmUp));
  const call = await createCaller(options);
  return () => makeAllAtOnce(call, numbers(firstCall, calls));
}

function makeAllAtOnce(call: Call, ns: readonly number[]): void {
  const startedAt = performance.now();
  const end = (ending: Omit<Ending, 'ms'>) => send({ ...ending, ms: performance.now() - startedAt });
  for (const n of ns) {
    call(n).then(
      () => end({ ok: true }),
      (error: unknown) => end({ ok: false, error: String(error) }),
    );
  }
}

function numbers(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => first + place);
}

function send(message: Message): void {
  process.send?.(message);
}
