/** Started by run.ts: prepares a contender, waits for the start, then makes its calls. */
import type { Call, Target } from '../peers.ts';
import type { Contender } from './contenders.ts';
import { installTimeScale, type TimeScale } from './time-scale.ts';

export type Order = Preparation | 'start';

interface Preparation {
  /** Name in `CONTENDERS`. */
  readonly contender: string;
  readonly options: Target;
  /** A server without a limit for a first call, so that compiling and connecting are not measured. */
  readonly warmUpOrigin: string;
  readonly firstCall: number;
  readonly calls: number;
}

/** The end of a call, in scaled milliseconds since the start. */
export interface Ending {
  readonly ms: number;
  /** Only of a call that failed. */
  readonly error?: string;
}

const WARM_UP_CALLS = 50;
const WARM_UP_PER_MINUTE = 1_000;
/** A call that takes longer counts as failed. */
const GIVE_UP_MS = 30 * 60_000;

installTimeScale(JSON.parse(process.argv[2] ?? '') as TimeScale);
const { CONTENDERS } = await import('./contenders.ts'); // after the clock is replaced
let makeCalls = async (): Promise<readonly Ending[]> => [];
process.on('disconnect', () => process.exit());
process.on('message', async (order: Order) => {
  if (order === 'start') return send(await makeCalls());
  makeCalls = await prepare(order);
  send([]);
});
send([]);

async function prepare({ contender, options, warmUpOrigin, firstCall, calls }: Preparation) {
  const { createCaller } = CONTENDERS[contender] as Contender; // the parent has the same list
  const warmUp = await createCaller({ ...options, origin: warmUpOrigin, perMinute: WARM_UP_PER_MINUTE });
  await Promise.allSettled(numbers(0, WARM_UP_CALLS).map(warmUp));
  const call = await createCaller(options);
  return () => makeAllAtOnce(call, numbers(firstCall, calls));
}

function makeAllAtOnce(call: Call, ns: readonly number[]): Promise<readonly Ending[]> {
  const startedAt = performance.now();
  const tooLong = new Promise((_, reject) => {
    setTimeout(reject, GIVE_UP_MS, 'not settled after 30 minutes');
  });
  const endings = ns.map((n) =>
    Promise.race([call(n), tooLong]).then(
      () => ({ ms: performance.now() - startedAt }),
      (error: unknown) => ({ ms: performance.now() - startedAt, error: String(error) }),
    ),
  );
  return Promise.all(endings);
}

function numbers(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => first + place);
}

/** Replies to an order, and tells the parent at first that it can give one. */
function send(endings: readonly Ending[]): void {
  process.send?.(endings);
}
