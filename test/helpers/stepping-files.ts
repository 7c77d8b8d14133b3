import fs from 'node:fs';
import type { Files } from '../../src/client/file-store/state-folder.ts';

/** Called before each call of `node:fs`, with its index from 0. If it throws, the call throws the same error. */
export type OnStep = (step: number, name: keyof Files) => void;

/** The real files, with a hook before each step. */
export function steppingFiles(onStep: OnStep): Files {
  let steps = 0;
  const stepping = (name: keyof Files) => {
    const real = fs[name] as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => {
      const step = steps;
      steps += 1;
      onStep(step, name);
      return real(...args);
    };
  };
  const names = [
    'lstatSync',
    'mkdirSync',
    'readdirSync',
    'readFileSync',
    'renameSync',
    'rmSync',
    'unlinkSync',
    'writeFileSync',
  ] as const satisfies readonly (keyof Files)[];
  return Object.fromEntries(names.map((name) => [name, stepping(name)])) as unknown as Files;
}

/** A process that is killed before step `at`: no later step is executed. */
export function killedAt(at: number): { readonly files: Files; readonly wasKilled: () => boolean } {
  let wasKilled = false;
  const files = steppingFiles((step) => {
    if (step < at) return;
    wasKilled = true;
    throw Object.assign(new Error('killed'), { code: 'KILLED' });
  });
  return { files, wasKilled: () => wasKilled };
}
