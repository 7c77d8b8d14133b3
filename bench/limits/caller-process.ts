/** Started by caller-group.ts: prepares a contender, waits for the start, then makes its calls. */
import type { Call, CallerOptions, Contender } from './contenders.ts';
import { installTimeScale, type TimeScale } from './time-scale.ts';

export type Order = Preparation | 'start';

export interface Preparation {
  /** Name in `CONTENDERS`. */
  readonly contender: string;
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

installTimeScale(JSON.parse(process.argv[2] ?? '') as TimeScale);
const { CONTENDERS } = await import('./contenders.ts'); // after the clock is replaced
let makeCalls: () => void = () => undefined;
process.on('disconnect', () => process.exit());
process.on('message', async (order: Order) => {
  if (order === 'start') return makeCalls();
  makeCalls = await prepare(order);
  send('ready');
});
send('ready');

async function prepare({ contender, options, warmUpOrigin, firstCall, calls }: Preparation): Promise<() => void> {
  const { createCaller } = CONTENDERS[contender] as Contender; // the parent has the same list
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
