import { FxRatesError } from '../../../src/client/index.ts';
import type { Traffic } from './network.ts';
import type { PlannedCall, Scenario } from './scenario.ts';
import { type ProcessClock, settle, type VirtualTime } from './virtual-time.ts';

/** Makes one call; `n` makes each call different, because identical ones share one request. */
export type MakeCall = (n: number, signal?: AbortSignal) => Promise<unknown>;

/** One simulated process: its clock, and how it makes a call. */
export interface Process {
  readonly clock: ProcessClock;
  readonly traffic: Traffic;
  readonly call: MakeCall;
  readonly startBatch: (queries: number) => void;
}

/** Makes the calls of a job and counts their results. */
export class JobRun {
  readonly #time: VirtualTime;
  readonly #processes: readonly Process[];
  readonly #startedAt: number;
  readonly #callers: number;
  readonly failed = new Map<string, number>();
  served = 0;
  aborted = 0;
  settled = 0;
  tookMs = 0;
  endedAt: number;

  constructor({ job }: Scenario, time: VirtualTime, processes: readonly Process[]) {
    this.#time = time;
    this.#processes = processes;
    this.#startedAt = time.now();
    this.#callers = job.callers ?? Number.POSITIVE_INFINITY;
    this.endedAt = time.now();
  }

  get makespanMs(): number {
    return this.endedAt - this.#startedAt;
  }

  async run(planned: readonly PlannedCall[], giveUpMs: number): Promise<void> {
    this.#processes.forEach((process, place) => {
      this.#start(
        process,
        planned.filter((call) => call.process === place),
      );
    });
    await this.#time.run(() => this.settled === planned.length, this.#startedAt + giveUpMs);
    await settle();
  }

  #start(process: Process, calls: readonly PlannedCall[]): void {
    if (this.#callers < calls.length) {
      const left = [...calls];
      for (let caller = 0; caller < this.#callers; caller += 1) void this.#workThrough(process, left);
      return;
    }
    for (const call of calls) {
      if (call.startMs === 0) void this.#make(process, call);
      else this.#time.after(call.startMs, () => void this.#make(process, call));
    }
  }

  async #workThrough(process: Process, left: PlannedCall[]): Promise<void> {
    for (let call = left.shift(); call !== undefined; call = left.shift()) await this.#make(process, call);
  }

  async #make({ call }: Process, { number, abortAfterMs }: PlannedCall): Promise<void> {
    const controller = abortAfterMs === undefined ? undefined : new AbortController();
    const cancel = controller && this.#time.after(abortAfterMs ?? 0, () => controller.abort());
    const startedAt = this.#time.now();
    try {
      await call(number, controller?.signal);
      this.served += 1;
      this.tookMs += this.#time.now() - startedAt;
      this.endedAt = this.#time.now();
    } catch (error) {
      this.#countFailure(error);
    }
    cancel?.();
    this.settled += 1;
  }

  #countFailure(error: unknown): void {
    const kind = error instanceof FxRatesError ? error.kind : String((error as Error | undefined)?.name);
    if (kind === 'aborted') this.aborted += 1;
    else this.failed.set(kind, (this.failed.get(kind) ?? 0) + 1);
  }
}
