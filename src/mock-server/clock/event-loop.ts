import { createHook } from 'node:async_hooks';
import * as promises from 'node:timers/promises';
import type { Steps } from '../input/checked-input.ts';

// Read when the module loads, and not from `globalThis`: fake timers of a test, installed earlier or later, must not stop
// the mock. sinon also replaces the functions of the module.
const { setImmediate: afterEvents, setTimeout: afterMs } = promises;

/** Milliseconds of real time since any fixed moment, also under fake timers. */
// biome-ignore lint/plugin: this is the real clock
export const monotonicNow = performance.now.bind(performance);

/** Waits one turn of the event loop, in which all promises and events that are ready run. */
export function nextTurn(): Promise<void> {
  return afterEvents();
}

/** All steps of a work, with a turn of the event loop every few milliseconds, so that other requests need not wait for its end. */
export async function inTurns<Result>(
  steps: Steps<Result>,
  { turn = nextTurn, now = monotonicNow } = {},
): Promise<Result> {
  for (let since = now(), step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (now() - since < LONGEST_TURN_MS) continue;
    await turn();
    since = now();
  }
}

const LONGEST_TURN_MS = 5;

/** Milliseconds of real time, or until `signal` aborts; by default, the process does not end before. */
export async function pause(ms: number, signal?: AbortSignal, { holdsProcess = true } = {}): Promise<void> {
  const options = { signal, ref: holdsProcess };
  await afterMs(Math.min(ms, LONGEST_TIMER_MS), undefined, options).catch(() => undefined); // it rejects when aborted
}

/** Whether an operation of the system is pending, such as reading a file, resolving a name or connecting. */
export function isSystemBusy(): boolean {
  return unlisted.size > 0 || process.getActiveResourcesInfo().some((resource) => SYSTEM_WORK.test(resource));
}

/** Names of libuv's requests, as opposed to sockets and timers, which may wait for ever. */
const SYSTEM_WORK = /^(?:FSReq|CloseReq|GetAddrInfo|GetNameInfo|TCPConnect|PipeConnect|WriteWrap|ShutdownWrap)/;

/** Ids of the pending reads of files, which Node 26 does not list as active. */
const unlisted = new Set<number>();
const LISTS_READS = Number.parseInt(process.versions.node, 10) < 26;
let isWatching = false;

/** From now on, `isSystemBusy()` knows each operation. */
export function watchSystem(): void {
  if (LISTS_READS || isWatching) return;
  isWatching = true;
  const init = (id: number, type: string) => {
    if (type.startsWith('FSREQ')) unlisted.add(id);
  };
  const before = (id: number) => void unlisted.delete(id);
  // Promises are many, and no operation is one.
  createHook({ init, before, ...{ trackPromises: false } }).enable();
}

/** Keeps the process running, as an open connection does, until the returned function is called, at most five minutes. */
export function holdProcess(): () => void {
  const released = new AbortController();
  // msw does not report that a request of node:http was destroyed; `fetch` ends its connection after the same time.
  void pause(300_000, released.signal);
  return () => released.abort();
}

/** Node fires a longer timer after 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
