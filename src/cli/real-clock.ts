import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../client/index.ts';

/** Node's timers take 32 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's time. The client has the same, but a command that does not call the service never loads the client. */
export const realClock: Clock = {
  // biome-ignore lint/plugin: this is the real clock
  now: () => Date.now(),
  async sleep(ms, signal) {
    for (let leftMs = ms; leftMs > 0; leftMs -= LONGEST_TIMER_MS) {
      await sleep(Math.min(leftMs, LONGEST_TIMER_MS), undefined, signal && { signal }).catch(() => {
        throw signal?.reason;
      });
    }
  },
};
