import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Ending, Message, Order, Preparation } from './caller-process.ts';
import type { TimeScale } from './time-scale.ts';

const CALLER_PROCESS = fileURLToPath(new URL('caller-process.ts', import.meta.url));

/** Processes that are reused for several runs, so that none starts during a measurement. */
export class CallerGroup implements Disposable {
  readonly #processes: readonly ChildProcess[];

  private constructor(processes: readonly ChildProcess[]) {
    this.#processes = processes;
  }

  static async start(size: number, scale: TimeScale): Promise<CallerGroup> {
    const processes = Array.from({ length: size }, () =>
      fork(CALLER_PROCESS, [JSON.stringify(scale)], { execArgv: ['--import', 'tsx'] }).once('exit', stopTheBench),
    );
    await Promise.all(processes.map((process) => once(process, 'message')));
    return new CallerGroup(processes);
  }

  /** Sends one preparation to each process. */
  async prepare(preparations: readonly Preparation[]): Promise<void> {
    const processes = this.#processes.slice(0, preparations.length);
    const ready = Promise.all(processes.map((process) => once(process, 'message')));
    for (const [place, process] of processes.entries()) order(process, preparations[place]);
    await ready;
  }

  /**
   * Starts the first `processes` processes. Resolves with `calls` endings, or with those that arrived within
   * `giveUpMs`.
   */
  async makeCalls(processes: number, calls: number, giveUpMs: number): Promise<Ending[]> {
    const callers = this.#processes.slice(0, processes);
    const endings: Ending[] = [];
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, giveUpMs);
      for (const caller of callers) {
        caller.on('message', (message: Message) => {
          if (message !== 'ready') endings.push(message);
          if (endings.length < calls) return;
          clearTimeout(timer);
          resolve();
        });
        order(caller, 'start');
      }
    });
    for (const caller of callers) caller.removeAllListeners('message');
    return endings;
  }

  [Symbol.dispose](): void {
    for (const process of this.#processes) process.off('exit', stopTheBench).kill('SIGKILL');
  }
}

function order(process: ChildProcess, message: Order | undefined): void {
  if (message !== undefined) process.send(message);
}

function stopTheBench(code: number | null): never {
  throw new Error(`A calling process ended by itself, with ${code}`);
}
