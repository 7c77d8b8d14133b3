import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { basename, join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileExchange } from '../../../src/client/file-store/file-store.ts';
import type { Files } from '../../../src/client/file-store/state-folder.ts';
import type { LimitExchange } from '../../../src/client/limits/shared/limit-store.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const NOW = Date.UTC(2026, 0, 21);
const STEPS_AT_MOST = 60;
const base = temporaryFolder();
let folders = 0;

interface Write {
  readonly from: string;
  readonly to: string;
}

/** A folder of its own, and what was written into it, by whichever process. */
function setUp(writesBefore = 0) {
  folders += 1;
  const root = join(base, `${folders}`);
  const writes: Write[] = [];
  let versions = 0;
  /** Reads, then writes on top of what it has read, as a process of its own does. */
  const update = (files: Files = fs) => {
    const exchange = fileExchange(root, { now: () => NOW, files });
    versions += 1;
    const to = `v${versions}`;
    const { version: from } = exchange('key', '');
    if (exchange('key', from, offerOf(to)).isWritten) writes.push({ from, to });
  };
  const current = () => fileExchange(root, { now: () => NOW, files: fs })('key', '?');
  for (let write = 0; write < writesBefore; write += 1) update();
  return { root, writes, update, current };
}

function offerOf(version: string) {
  return { version, state: stateOf(version), nowMs: NOW, keepMs: 60_000 };
}

function stateOf(version: string): string {
  return version === '' ? '' : `state of ${version} ${'x'.repeat(2_000)}`;
}

/** Each write is based on the one before it, and the last one is what the store holds. */
function expectNoLostUpdate(writes: readonly Write[], { version, state }: LimitExchange): void {
  const next = new Map(writes.map(({ from, to }) => [from, to]));
  expect(next.size).toBe(writes.length); // two writes on one version: one of them is lost
  let last = '';
  for (let count = 0; count < writes.length; count += 1) last = next.get(last) ?? 'nothing is written on this version';
  expect([version, state]).toEqual([last, stateOf(last)]);
}

test.each([0, 1])('a process killed at any step leaves the old state or the new one, after %i writes', (before) => {
  const left: string[] = [];
  for (let step = 0, wasKilled = true; wasKilled; step += 1) {
    const { writes, update, current } = setUp(before);
    const killed = killedAt(step);

    try {
      update(killed.files);
    } catch {
      // It is dead.
    }
    const { version, state } = current();
    update();

    expect([version, state]).toEqual([version, stateOf(version)]);
    expect(writes.at(-1)).toEqual({ from: version, to: `v${before + 2}` });
    left.push(version);
    wasKilled = killed.wasKilled();
    expect(step).toBeLessThan(STEPS_AT_MOST);
  }
  expect([...new Set(left)]).toEqual([before === 0 ? '' : 'v1', `v${before + 1}`]);
});

test('a read returns a complete state, however often other processes write between two steps', () => {
  for (let step = 0, wasPaused = true; wasPaused; step += 1) {
    const { root, update } = setUp(1);
    wasPaused = false;
    const files = steppingFiles((place) => {
      if (place !== step) return;
      wasPaused = true;
      for (let count = 0; count < 3; count += 1) update();
    });

    const { version, state } = fileExchange(root, { now: () => NOW, files })('key', '');

    expect(['v1', 'v4']).toContain(version);
    expect(state).toBe(stateOf(version));
    expect(step).toBeLessThan(STEPS_AT_MOST);
  }
});

test('of two processes that repair a damaged folder, one writes first, whatever the order of their steps', () => {
  for (let step = 0, wasPaused = true; wasPaused; step += 1) {
    const { root, writes, update, current } = setUp();
    const folder = join(root, createHash('sha256').update('key').digest('hex'));
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    wasPaused = false;
    let first = Number.POSITIVE_INFINITY;

    update(
      steppingFiles((place, name) => {
        if (name === 'renameSync') first = Math.min(first, place);
        if (place !== first + step) return;
        wasPaused = true;
        update();
      }),
    );

    expectNoLostUpdate(writes, current());
    expect(fs.readdirSync(root)).toEqual([basename(folder)]);
    expect(step).toBeLessThan(STEPS_AT_MOST);
  }
});

test('a repaired folder that was moved aside is removed if another process has created a new one meanwhile', () => {
  for (let step = 0, wasPaused = true; wasPaused; step += 1) {
    const { root, writes, update, current } = setUp();
    const folder = join(root, createHash('sha256').update('key').digest('hex'));
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    wasPaused = false;
    let renamedAt = Number.POSITIVE_INFINITY;

    update(
      steppingFiles((place, name) => {
        if (name === 'renameSync' && renamedAt === Number.POSITIVE_INFINITY) {
          renamedAt = place;
          update();
        }
        if (place !== renamedAt + 1 + step) return;
        wasPaused = true;
        update();
      }),
    );

    const { version } = current();
    expect(writes.map(({ to }) => to)).toContain(version);
    expect(fs.readdirSync(root)).toEqual([basename(folder)]);
    expect(step).toBeLessThan(STEPS_AT_MOST);
  }
});

/** A process that pauses at steps, where others run meanwhile, which pause in turn; or one that is killed at a step. */
interface Process {
  readonly killedAt: number | undefined;
  readonly pauses: readonly { readonly at: number; readonly others: readonly Process[] }[];
}

const process = (depth: number): fc.Arbitrary<Process> =>
  fc.record({
    killedAt: fc.option(fc.nat(25), { nil: undefined, freq: 4 }),
    pauses:
      depth === 0
        ? fc.constant([])
        : fc.array(fc.record({ at: fc.nat(25), others: fc.array(process(depth - 1), { maxLength: 3 }) }), {
            maxLength: 2,
          }),
  });

test('no update is lost in any order of the steps of several processes, some of which are killed', () => {
  void fc.assert(
    fc.property(fc.array(process(3), { minLength: 1, maxLength: 4 }), (all) => {
      const { writes, update, current } = setUp();
      const run = ({ killedAt: killAt, pauses }: Process): void => {
        const files = steppingFiles((step) => {
          if (killAt !== undefined && step >= killAt) throw new Error('killed');
          const meanwhile = pauses.filter(({ at }) => at === step).flatMap(({ others }) => others);
          for (const other of meanwhile) run(other);
        });
        try {
          update(files);
        } catch (error) {
          if ((error as Error).message !== 'killed') throw error;
        }
      };

      for (const each of all) run(each);

      expectNoLostUpdate(writes, current());
    }),
    { numRuns: 300, seed: 11 },
  );
});

/** The real files. `onStep` is called before each call, with its index from 0. If it throws, the call throws the same error. */
function steppingFiles(onStep: (step: number, name: keyof Files) => void): Files {
  let steps = 0;
  return new Proxy(fs, {
    get: (_, name: keyof Files) => {
      const real = Reflect.get(fs, name) as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        steps += 1;
        onStep(steps - 1, name);
        return real(...args);
      };
    },
  });
}

/** A process that is killed before step `at`: no later step is executed. */
function killedAt(at: number): { readonly files: Files; readonly wasKilled: () => boolean } {
  let wasKilled = false;
  const files = steppingFiles((step) => {
    if (step < at) return;
    wasKilled = true;
    throw Object.assign(new Error('killed'), { code: 'KILLED' });
  });
  return { files, wasKilled: () => wasKilled };
}
