import { Session } from 'node:inspector/promises';

/**
 * Counts how often the blocks of code in `src` run: a function, the body of a loop, a branch. Unlike a duration, the count
 * is the same on every machine.
 */
export class StepCounter {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  async stepsOf(work: () => Promise<unknown>): Promise<number> {
    await this.#taken(); // sets the counts to 0
    await work();
    return this.#taken();
  }

  stop(): void {
    this.#session.disconnect();
  }

  async #taken(): Promise<number> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const functions = result.flatMap((script) => (script.url.includes('/src/') ? script.functions : []));
    return functions.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0);
  }
}
