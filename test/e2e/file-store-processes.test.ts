import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileStore } from '../../src/client/file-store/index.ts';
import { bundledProgram } from '../helpers/child-program.ts';
import type { AcceptedWrite, WritingOptions } from '../helpers/file-store-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const PROCESS = await bundledProgram(new URL('../helpers/file-store-process.ts', import.meta.url));

let base: string;
let root: string;
let processes: ChildProcess[];

beforeEach(() => {
  base = temporaryFolder();
  root = join(base, 'limits');
  processes = [1, 2, 3, 4, 5].map((place) => {
    const options: WritingOptions = { root, log: join(base, `${place}.log`) };
    return fork(PROCESS, [JSON.stringify(options)]);
  });
});
afterEach(() => {
  for (const each of processes) each.kill('SIGKILL');
});

const acceptedWrites = (): AcceptedWrite[] =>
  readdirSync(base)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => readFileSync(join(base, name), 'utf8').split('\n'))
    .filter((line) => line.endsWith('}')) // a killed process may leave half a line
    .map((line) => JSON.parse(line))
    .sort((one, other) => one.count - other.count);

test('five processes write at the same time, two of them are killed: no update is lost', async () => {
  const [one, other, ...survivors] = processes as [ChildProcess, ChildProcess, ...ChildProcess[]];
  await Promise.all(processes.map((each) => once(each, 'message')));
  const killed = [one, other];
  const gone = killed.map((each) => once(each, 'exit'));
  for (const each of killed) each.kill('SIGKILL');
  await Promise.all(gone);

  const ended = survivors.map((each) => once(each, 'exit'));
  for (const each of survivors) each.send('stop');
  const codes = (await Promise.all(ended)).map(([code]) => code);

  const writes = acceptedWrites();
  const last = writes.at(-1);
  const numbers = writes.map(({ count }) => count);
  const missing = (last?.count ?? 0) - numbers.length; // accepted, but its process was killed before it recorded that
  const unbased = writes.filter(
    ({ from, count }, place) => count === 1 + (numbers[place - 1] ?? 0) && count > 1 && from !== writes[place - 1]?.to,
  );
  expect(codes).toEqual([0, 0, 0]);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(missing).toBeGreaterThanOrEqual(0);
  expect(missing).toBeLessThanOrEqual(killed.length);
  expect(unbased).toEqual([]);
  const { version, state } = await fileStore(root).exchange('key', '');
  expect([version, JSON.parse(state).count]).toEqual([last?.to, last?.count]);
  expect(readdirSync(root)).toHaveLength(1);
});
