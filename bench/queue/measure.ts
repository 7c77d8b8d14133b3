import { memoryInUse } from '../memory-in-use.ts';
import { Queue } from './queue.ts';
import type { Situation } from './situations.ts';

/** Calls that are made in one turn of the event loop. */
const BATCH = 1_000;
/** Number of short queues, of which a figure is the mean: enough to include garbage collections. */
const SHORT_QUEUES = 30;

/** CPU microseconds, garbage collection included. */
export interface Costs {
  /** To make a call. */
  readonly add: number;
  /** To abort one; NaN when none is aborted. */
  readonly abort: number;
  /** To send one and read its response. */
  readonly completion: number;
}

export interface Measured {
  readonly situation: string;
  /** Bytes per waiting call, for the first thousand and for all. */
  readonly bytesFirst: number;
  readonly bytesAll: number;
  /** Per call, in a queue of a thousand. */
  readonly short: Costs;
  /** Per call of the long queue; `add` covers its last tenth. */
  readonly long: Costs;
  readonly completed: number;
  /** MiB in use after all calls have ended, minus those in use before the first. */
  readonly leftMebibytes: number;
  /** Waiting calls and sleeps after all calls have ended. */
  readonly left: number;
}

export async function measure({ name, prepare }: Situation, calls: number): Promise<Measured> {
  const short = await shortQueues(prepare);
  const queue = await Queue.create(prepare());
  const before = memoryInUse();
  await queue.add(BATCH);
  const bytesFirst = (memoryInUse() - before) / BATCH;
  await addInBatches(queue, 0.9 * calls - BATCH);
  const add = (await cpuOf(() => addInBatches(queue, 0.1 * calls))) / (0.1 * calls);
  const bytesAll = (memoryInUse() - before) / queue.waiting;
  const long = { add, ...(await emptied(queue)) };
  const leftMebibytes = (memoryInUse() - before) / 2 ** 20;
  const { completed, waiting, sleeps } = queue;
  return { situation: name, bytesFirst, bytesAll, short, long, completed, leftMebibytes, left: waiting + sleeps };
}

async function shortQueues(prepare: Situation['prepare']): Promise<Costs> {
  const costs: Costs[] = [];
  for (let run = 0; run < SHORT_QUEUES; run += 1) {
    const queue = await Queue.create(prepare());
    const add = (await cpuOf(() => queue.add(BATCH))) / BATCH;
    costs.push({ add, ...(await emptied(queue)) });
  }
  const mean = (name: keyof Costs) => costs.reduce((sum, cost) => sum + cost[name], 0) / costs.length;
  return { add: mean('add'), abort: mean('abort'), completion: mean('completion') };
}

async function addInBatches(queue: Queue, calls: number): Promise<void> {
  for (let left = calls; left > 0; left -= BATCH) await queue.add(Math.min(BATCH, left));
}

async function emptied(queue: Queue): Promise<Omit<Costs, 'add'>> {
  const waiting = queue.waiting;
  const abort = await cpuOf(() => queue.abortHalf());
  const aborted = waiting - queue.waiting;
  const completion = await cpuOf(() => queue.drain());
  return { abort: aborted === 0 ? Number.NaN : abort / aborted, completion: completion / queue.completed };
}

/** CPU microseconds of this process, which other programs do not increase. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
