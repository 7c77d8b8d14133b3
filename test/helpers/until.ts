import { setTimeout as pause } from 'node:timers/promises';

/** Resolves when a condition that another process fulfils is true; checks it every few milliseconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(2);
}
