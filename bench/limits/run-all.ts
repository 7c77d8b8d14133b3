import { CallerGroup } from './caller-group.ts';
import type { Contender } from './contender.ts';
import { type Run, run } from './run.ts';
import { CALLS, type Situation } from './situations.ts';
import type { TimeScale } from './time-scale.ts';

export interface RunAllOptions {
  readonly scale: TimeScale;
  /** Parallel runs. */
  readonly jobs: number;
  onRun(run: Run, progress: string): void;
}

/** Runs every contender in every situation that it supports, in this order. */
export async function runAll(
  contenders: readonly Contender[],
  situations: readonly Situation[],
  { scale, jobs, onRun }: RunAllOptions,
): Promise<Run[]> {
  const planned = situations.flatMap((situation) =>
    contenders.filter((contender) => isMeantFor(contender, situation)).map((contender) => ({ contender, situation })),
  );
  const size = Math.max(...situations.map(({ processes }) => processes));
  const files = [...new Set(contenders.map(({ file }) => file))];
  const startGroup = () => CallerGroup.start(size, { scale, files });
  const waiting = planned.entries();
  const done: Run[] = [];
  let ended = 0;
  const work = async (first: CallerGroup) => {
    let group = first;
    for (const [place, { contender, situation }] of waiting) {
      const result = await run(contender, situation, { group, scale });
      done[place] = result;
      ended += 1;
      onRun(result, `${ended}/${planned.length}`);
      if (result.endings.length < CALLS) group = await replace(group, startGroup);
    }
    group[Symbol.dispose]();
  };
  // Started one after another: dozens of processes that start at once would slow other programs of the machine.
  const groups: CallerGroup[] = [];
  while (groups.length < Math.min(jobs, planned.length)) groups.push(await startGroup());
  await Promise.all(groups.map(work));
  return done;
}

function isMeantFor({ processes }: Contender, situation: Situation): boolean {
  return processes?.includes(situation.processes) ?? true;
}

/** Calls of a run that was stopped continue in the old processes. */
async function replace(group: CallerGroup, start: () => Promise<CallerGroup>): Promise<CallerGroup> {
  group[Symbol.dispose]();
  return start();
}
