/**
 * Measures a call that waits for the limit, and the memory that remains. Each of 100,000 calls must cost as much as
 * each of the first thousand.
 * `npm run bench:queue`; `--json`, `--record`, `--calls 100000`.
 *
 * The client has the limit of the Unlimited plan (1,000 per minute), in virtual time. The fake service responds only
 * after all calls wait. Figures are CPU time of the process, including garbage collection.
 */
import { parseArgs } from 'node:util';
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';
import { type Measured, measure } from './measure.ts';
import { SITUATIONS } from './situations.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    calls: { type: 'string', default: '100000' },
    record: { type: 'boolean', default: false },
  },
});
const calls = Number(values.calls);
const [first] = SITUATIONS;
if (first) await measure(first, 5_000); // loads and compiles all code
const rows: Measured[] = [];
for (const situation of SITUATIONS) rows.push(await measure(situation, calls));
process.stdout.write(
  values.json ? `${JSON.stringify({ node: process.version, calls, rows }, undefined, 2)}\n` : asText(),
);
reportChanges({ bench: 'queue', node: process.version, figures: ratios(), isRecorded: values.record });

/** What the last calls of a long queue cost beside those of a short one, and what is left. */
function ratios(): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ situation, bytesAll, short, long, left }) => [
      [`${situation}: bytes per call`, bytesAll],
      [`${situation}: add, long / short`, long.add / short.add],
      [`${situation}: completion, long / short`, long.completion / short.completion],
      [`${situation}: left`, left],
    ]),
  );
}

function asText(): string {
  const heads = [
    'waiting calls',
    'bytes each',
    'µs to make',
    'µs to abort',
    'µs to complete',
    'completed',
    'MiB left',
    'left',
  ];
  const cells = rows.map(({ situation, bytesFirst, bytesAll, short, long, completed, leftMebibytes, left }) => [
    situation,
    pair(bytesFirst, bytesAll),
    pair(short.add, long.add),
    Number.isNaN(long.abort) ? '' : pair(short.abort, long.abort),
    pair(short.completion, long.completion),
    String(completed),
    leftMebibytes.toFixed(1),
    String(left),
  ]);
  const notes = [
    `In each pair: 1,000 waiting calls; ${calls.toLocaleString('en')} (to make: the last tenth of them).`,
    'µs are CPU time, garbage collection included: it copies what lives longer than a queue of 1,000 does, once.',
    'Left: what waits or sleeps when all have ended.',
  ];
  return `${table(heads, cells)}\n\n${notes.join('\n')} Node ${process.version}.\n`;
}

function pair(one: number, other: number): string {
  return `${one.toFixed(0)}; ${other.toFixed(0)}`;
}
