/**
 * Runs a client against every fault of the mock, in virtual time. Each call must return a value or throw a typed error
 * that does not contain the key. Client and mock must count the same, and no timer, handle or memory may remain. Exits
 * with 1 otherwise.
 * `npm run bench:chaos`; `--json`, `--record`, `--calls 100000`, `--seed 20261121`.
 */
import { setTimeout } from 'node:timers/promises';
import { CHAOS_FAULTS, ChaosRun, chaosMock } from '../../test/helpers/chaos-run.ts';
import { memoryInUse } from '../memory-in-use.ts';
import { readOptions, report } from '../report.ts';

const WARM_UP_CALLS = 5_000;
/** Client and mock use about 18 KiB per key, on Node 20. A string of 200 characters per call would add 28 KiB. */
const MOST_KIBIBYTES_PER_KEY = 38;

const options = readOptions({ calls: 100_000, seed: 20_261_121 });
const { calls, seed } = options;

const mock = chaosMock();
// The first calls load and compile all code. Memory that grows later is a leak.
const warmUp = await new ChaosRun({ seed: seed + 1, calls: WARM_UP_CALLS, faults: CHAOS_FAULTS, mock }).play();
const handlesBefore = await openHandles();
const mebibytesBefore = memoryInUse() / 2 ** 20;
const startedAt = performance.now();
const run = new ChaosRun({ seed, calls, faults: CHAOS_FAULTS, mock });
const played = await run.play();
const seconds = (performance.now() - startedAt) / 1000;
const mebibytesAfter = memoryInUse() / 2 ** 20;
const handlesAfter = await openHandles();

// Measured while the client exists, so that memory it keeps per call is included.
const kibibytesPerKey = ((mebibytesAfter - mebibytesBefore) * 1024) / run.keys;
const { endings, struck, spent, virtualHours } = played;
const problems = [...warmUp.problems, ...played.problems];
if (handlesAfter !== handlesBefore) problems.push(`handles: ${handlesBefore} → ${handlesAfter}`);
if (kibibytesPerKey > MOST_KIBIBYTES_PER_KEY)
  problems.push(`memory: ${kibibytesPerKey.toFixed(1)} KiB per key, more than ${MOST_KIBIBYTES_PER_KEY}`);
const lines = [
  ...[endings, struck].flatMap((counts) => [...Object.entries(counts).sort(byCount).map(row), '']),
  `${calls} calls, seed ${seed}: ${virtualHours.toFixed(1)} virtual hours in ${seconds.toFixed(1)} s`,
  `spent: client ${spent.client} = mock ${spent.mock} + lost on the way to or from it ${spent.unseen}`,
  `memory: ${mebibytesBefore.toFixed(1)} → ${mebibytesAfter.toFixed(1)} MiB, ${kibibytesPerKey.toFixed(1)} KiB per key`,
  ...problems.slice(0, 20),
  `${problems.length} problems`,
];
const json = { calls, seed, seconds, mebibytesBefore, mebibytesAfter, kibibytesPerKey, ...played, problems };
const figures = { 'KiB per key': kibibytesPerKey, problems: problems.length, ...endings };
report('chaos', { text: lines.join('\n'), json, figures }, options);
process.exitCode = problems.length === 0 ? 0 : 1;

async function openHandles(): Promise<string> {
  await setTimeout(100); // the mock's clock checks for sleeping calls once more
  return process.getActiveResourcesInfo().sort().join();
}

function byCount([, a]: readonly [string, number], [, b]: readonly [string, number]): number {
  return b - a;
}

function row([name, count]: readonly [string, number]): string {
  return `${name.padEnd(16)} ${String(count).padStart(7)}`;
}
