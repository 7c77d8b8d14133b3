import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { promisify } from 'node:util';

/** A clock that runs `speed` times as fast as the real one since `originMs`; all processes of a run share it. */
export interface TimeScale {
  readonly originMs: number;
  readonly speed: number;
}

const realPerformanceNow = performance.now.bind(performance);
const realSetTimeout = globalThis.setTimeout;
const realSetInterval = globalThis.setInterval;
const realAbortSignalTimeout = AbortSignal.timeout.bind(AbortSignal);
const realSleep = timersPromises.setTimeout;
const realTicks = timersPromises.setInterval;
const RealDate = Date;

export function realNow(): number {
  return performance.timeOrigin + realPerformanceNow();
}

/** Milliseconds since the Unix epoch, in scaled time. */
export function scaledNow({ originMs, speed }: TimeScale): number {
  return originMs + (realNow() - originMs) * speed;
}

/**
 * Replaces every source of time in this process: Date, performance.now, timers, timers/promises and
 * AbortSignal.timeout. Modules that are imported afterwards use the scaled time; Node's sockets keep the real time.
 */
export function installTimeScale(scale: TimeScale): void {
  installClock(scale);
  installTimers(scale.speed);
  syncBuiltinESMExports();
}

function installClock(scale: TimeScale): void {
  const now = () => Math.floor(scaledNow(scale));
  globalThis.Date = new Proxy(RealDate, {
    apply: () => new RealDate(now()).toString(),
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
  Object.defineProperty(performance, 'now', { value: () => realPerformanceNow() * scale.speed });
}

function installTimers(speed: number): void {
  const sleep: typeof realSleep = (ms = 1, ...rest) => realSleep(ms / speed, ...rest);
  const ticks: typeof realTicks = (ms = 1, ...rest) => realTicks(ms / speed, ...rest);
  const setTimeout = scaled(realSetTimeout, speed);
  const setInterval = scaled(realSetInterval, speed);
  Object.defineProperty(setTimeout, promisify.custom, { value: sleep });
  Object.assign(globalThis, { setTimeout, setInterval });
  Object.assign(timers, { setTimeout, setInterval });
  Object.assign(timersPromises, { setTimeout: sleep, setInterval: ticks });
  AbortSignal.timeout = (ms) => realAbortSignalTimeout(Math.ceil(ms / speed));
}

function scaled(real: typeof realSetTimeout | typeof realSetInterval, speed: number) {
  return (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => real(run, ms / speed, ...args);
}
