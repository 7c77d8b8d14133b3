/**
 * What the mock server costs, beside a bare node:http server, Prism, Mockoon and json-server:
 * `npm ci --prefix bench && npm run bench:mock`; `--json`, `--record`, `--only throughput,start-up,in-process,memory`.
 *
 * Ratios are of one run alone, in which the contenders take turns. Each server has a process of its own, and so has each
 * part: what one leaves behind is not the next one's.
 */
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { reportChanges } from '../recorded.ts';
import { asRecords, asText, type Figures, ratiosOf } from './figures.ts';

const PARTS = {
  throughput: async () => (await import('./throughput.ts')).throughput(),
  'start-up': async () => (await import('./start-up.ts')).startUp(),
  'in-process': async () => (await import('./in-process.ts')).inProcess(),
  memory: async () => (await import('./memory.ts')).memory(),
};
type Part = keyof typeof PARTS;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(PARTS).join() },
    part: { type: 'string' }, // for this process; its figures are JSON
  },
});

if (values.part === undefined) report(values.only.split(',').map(named));
else process.stdout.write(JSON.stringify(await PARTS[named(values.part)]()));

function report(parts: readonly Part[]): void {
  const date = new Date().toISOString();
  const loadAtStart = loadavg()[0];
  const all = parts.map((part): [Part, Figures] => [part, inProcessOfItsOwn(part)]);
  const facts = { date, node: process.version, loadAtStart, loadAtEnd: loadavg()[0] };
  const records = Object.fromEntries(all.map(([part, figures]) => [part, asRecords(figures)]));
  const texts = [...all.map(([, figures]) => asText(figures)), JSON.stringify(facts)];
  process.stdout.write(
    `${values.json ? JSON.stringify({ ...facts, ...records }, undefined, 2) : texts.join('\n\n')}\n`,
  );
  const figures = Object.assign({}, ...all.map(([part, ofPart]) => ratiosOf(part, ofPart)));
  reportChanges({ bench: 'mock', node: process.version, figures, isRecorded: values.record });
}

function inProcessOfItsOwn(part: Part): Figures {
  const node = ['--import', 'tsx', '--max-old-space-size=4096', import.meta.filename, '--part', part];
  const { status, stdout } = spawnSync(process.execPath, node, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${part} failed.`);
  return JSON.parse(stdout);
}

function named(part: string): Part {
  if (part in PARTS) return part as Part;
  throw new Error(`${part} is none of ${Object.keys(PARTS).join(', ')}.`);
}
