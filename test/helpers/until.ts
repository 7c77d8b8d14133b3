import { setTimeout as pause } from 'node:timers/promises';

/** Resolves as soon as what another process does has come to pass; looks every few milliseconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(2);
}
