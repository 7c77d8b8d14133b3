import { CallerGroup } from './caller-group.ts';
import { CONTENDERS } from './contenders.ts';
import { type Run, run } from './run.ts';
import { CALLS, type Situation } from './situations.ts';
import type { TimeScale } from './time-scale.ts';

export interface RunAllOptions {
  readonly scale: TimeScale;
  /** Runs of each contender in each situation. */
  readonly runs: number;
  /** Parallel runs. */
  readonly jobs: number;
  onRun(run: Run, progress: string): void;
}

/** Runs every contender in every situation that it supports. Runs of one contender are far apart in time. */
export async function runAll(
  contenders: readonly string[],
  situations: readonly Situation[],
  { scale, runs, jobs, onRun }: RunAllOptions,
): Promise<Run[]> {
  const once = situations.flatMap((situation) =>
    contenders.filter((contender) => isMeantFor(contender, situation)).map((contender) => ({ contender, situation })),
  );
  const planned = Array.from({ length: runs }, () => once).flat();
  const size = Math.max(...situations.map(({ processes }) => processes));
  const startGroup = () => CallerGroup.start(size, scale);
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

function isMeantFor(contender: string, situation: Situation): boolean {
  return CONTENDERS[contender]?.processes?.includes(situation.processes) ?? true;
}

/** Calls of a run that was stopped continue in the old processes. */
async function replace(group: CallerGroup, start: () => Promise<CallerGroup>): Promise<CallerGroup> {
  group[Symbol.dispose]();
  return start();
}
