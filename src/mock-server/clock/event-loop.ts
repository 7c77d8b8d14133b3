import * as timers from 'node:timers';

// Read when the module loads, and not from `globalThis`: fake timers of a test, installed earlier or later, must not stop
// the mock. sinon also replaces the functions of the module.
const { setImmediate: runNext, setTimeout: runLater, clearTimeout: stopTimer } = timers;
const { setInterval: runOften, clearInterval: stopRunning } = timers;

/** Waits one turn of the event loop, in which all promises and events that are ready run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => runNext(resolve));
}

/** Milliseconds of real time, or until `signal` aborts; the process does not end before. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stopTimer(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = runLater(end, Math.min(ms, LONGEST_TIMER_MS));
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

/** Runs `act` every `ms` of real time until the returned function is called; the process may end before. */
export function repeat(ms: number, act: () => void): () => void {
  const timer = runOften(act, ms);
  timer.unref();
  return () => stopRunning(timer);
}

/** Node fires a longer timer after 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
