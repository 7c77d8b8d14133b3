import type { CallOptions } from '../../src/client/index.ts';

/** How the calls of a run are made, and what happens while they wait. */
export interface Situation {
  readonly name: string;
  readonly prepare: () => Prepared;
}

export interface Prepared {
  readonly optionsOf: (call: number) => CallOptions;
  /** Aborts every second call. */
  readonly abortHalf?: () => void;
}

/** Longer than the last call waits: a call that cannot be served before its deadline rejects immediately. */
const DAY_MS = 86_400_000;

export const SITUATIONS: readonly Situation[] = [
  { name: 'without a deadline', prepare: () => ({ optionsOf: () => ({ deadlineMs: false }) }) },
  { name: 'with a deadline', prepare: () => ({ optionsOf: () => ({ deadlineMs: DAY_MS }) }) },
  {
    name: 'one signal for all',
    prepare: () => {
      const { signal } = new AbortController();
      return { optionsOf: () => ({ signal, deadlineMs: false }) };
    },
  },
  { name: 'half aborted, two signals', prepare: twoSignals },
  { name: 'half aborted, a signal each', prepare: signalEach },
];

function twoSignals(): Prepared {
  const [even, odd] = [new AbortController(), new AbortController()];
  return {
    optionsOf: (call) => ({ signal: (call % 2 === 0 ? even : odd).signal, deadlineMs: DAY_MS }),
    abortHalf: () => even.abort(),
  };
}

function signalEach(): Prepared {
  const controllers = new Map<number, AbortController>();
  return {
    optionsOf: (call) => {
      const controller = new AbortController();
      controllers.set(call, controller);
      return { signal: controller.signal, deadlineMs: DAY_MS };
    },
    abortHalf: () => {
      for (const [call, controller] of controllers) if (call % 2 === 0) controller.abort();
      controllers.clear();
    },
  };
}
