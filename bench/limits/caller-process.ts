/** A process that calls, started by caller-group.ts: gets a contender ready, waits for the start, makes its calls. */
import type { Call, CallerOptions, CreateCaller } from './contender.ts';
import { installTimeScale, type TimeScale } from './time-scale.ts';

/** What the process is started with: its time, and everything that it may have to import. */
export interface Equipment {
  readonly scale: TimeScale;
  readonly files: readonly string[];
}

export type Order = Preparation | 'start';

export interface Preparation {
  /** In `contenders/`. */
  readonly file: string;
  readonly options: CallerOptions;
  /** An origin that refuses nothing: compiling and connecting for the first time are not what is measured. */
  readonly warmUpOrigin: string;
  readonly firstCall: number;
  readonly calls: number;
}

/** What it sends: `ready` when it can take an order and when prepared, then every call as it ends. */
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
