/**
 * Measures a call that waits for the limit, and the memory that remains. Each of 100,000 calls must cost as much as
 * each of the first thousand.
 * `npm run bench:queue`; `--json`, `--record`, `--calls 100000`.
 *
 * Figures are CPU time of the process, including garbage collection.
 */
import { parseArgs } from 'node:util';
import { memoryInUse } from '../memory-in-use.ts';
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';
import { Queue } from './queue.ts';

/** Calls that are made in one turn of the event loop, and calls of a short queue. */
const BATCH = 1_000;
/** Number of short queues, of which a figure is the mean: enough to include garbage collections. */
const SHORT_QUEUES = 30;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    calls: { type: 'string', default: '100000' },
    record: { type: 'boolean', default: false },
  },
});
const calls = Number(values.calls);
await measure('warm-up', false, 5_000); // loads and compiles all code
const rows = [
  await measure('calls', false, calls),
  await measure('calls with a deadline and a signal each, half of them aborted', true, calls),
];
process.stdout.write(`${values.json ? JSON.stringify({ node: process.version, calls, rows }) : asText()}\n`);
const figures = Object.fromEntries(
  rows.flatMap(({ name, bytes, short, long, left }) => [
    [`${name}: bytes per call`, bytes.all],
    [`${name}: add, long / short`, long.add / short.add],
    [`${name}: completion, long / short`, long.completion / short.completion],
    [`${name}: left`, left],
  ]),
);
reportChanges({ bench: 'queue', node: process.version, figures, isRecorded: values.record });

/** A long queue beside the mean of short ones; `add` of the long one covers its last tenth. */
async function measure(name: string, isAbortable: boolean, calls: number) {
  const short = await shortQueues(isAbortable);
  const queue = await Queue.create(isAbortable);
  const before = memoryInUse();
  await queue.add(BATCH);
  const first = (memoryInUse() - before) / BATCH;
  await addInBatches(queue, 0.9 * calls - BATCH);
  const add = (await cpuOf(() => addInBatches(queue, 0.1 * calls))) / (0.1 * calls);
  const bytes = { first, all: (memoryInUse() - before) / queue.waiting };
  const long = { add, completion: await emptied(queue, isAbortable) };
  return { name, bytes, short, long, leftMebibytes: (memoryInUse() - before) / 2 ** 20, left: queue.left };
}

async function shortQueues(isAbortable: boolean) {
  const sum = { add: 0, completion: 0 };
  for (let run = 0; run < SHORT_QUEUES; run += 1) {
    const queue = await Queue.create(isAbortable);
    sum.add += (await cpuOf(() => queue.add(BATCH))) / BATCH;
    sum.completion += await emptied(queue, isAbortable);
  }
  return { add: sum.add / SHORT_QUEUES, completion: sum.completion / SHORT_QUEUES };
}

async function addInBatches(queue: Queue, calls: number): Promise<void> {
  for (let left = calls; left > 0; left -= BATCH) await queue.add(Math.min(BATCH, left));
}

/** CPU microseconds per call until no call waits. */
async function emptied(queue: Queue, isAbortable: boolean): Promise<number> {
  const cpu = await cpuOf(async () => {
    if (isAbortable) await queue.abortHalf();
    await queue.drain();
  });
  return cpu / queue.completed;
}

/** CPU microseconds of this process, which other programs do not increase. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function asText(): string {
  const heads = ['waiting', 'bytes each', 'µs to make', 'µs to complete', 'MiB left', 'left'];
  const cells = rows.map(({ name, bytes, short, long, leftMebibytes, left }) => {
    const pairs = [pair(bytes.first, bytes.all), pair(short.add, long.add), pair(short.completion, long.completion)];
    return [name, ...pairs, leftMebibytes.toFixed(1), String(left)];
  });
  return `${table(heads, cells)}\n\nIn each pair: a queue of 1,000 calls; one of ${calls.toLocaleString('en')}. Node ${process.version}.`;
}

function pair(one: number, other: number): string {
  return `${one.toFixed(0)}; ${other.toFixed(0)}`;
}
