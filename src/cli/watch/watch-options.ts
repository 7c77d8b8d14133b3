import { Option } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import type { Invocation } from '../invocation.ts';
import { parseDuration } from '../settings/duration.ts';

/** What `--watch` and `--count` say. */
export interface WatchRequest {
  /** `undefined`: as often as makes sense. */
  readonly intervalMs: number | undefined;
  /** Infinity: until Ctrl-C. */
  readonly count: number;
}

export function watchOptions({
  text,
  shortestMs,
}: {
  readonly text: string;
  readonly shortestMs: number;
}): readonly Option[] {
  return [
    new Option('--watch [interval]', text).argParser((typed) => parseInterval(typed, shortestMs)),
    new Option('--count <n>', 'with --watch: stop after that many answers').argParser(parseCount),
  ];
}

/** `undefined` without `--watch`; then the other options of a watch are refused. */
export function watchRequest({ options }: Invocation): WatchRequest | undefined {
  const { watch, count, force } = options;
  if (watch === undefined) {
    const lonely = Object.entries({ count, force }).find(([, value]) => value !== undefined)?.[0];
    if (lonely !== undefined) throw usageError(`--${lonely} goes with --watch only`);
    return undefined;
  }
  return {
    intervalMs: typeof watch === 'number' ? watch : undefined, // `true` when no interval was typed
    count: typeof count === 'number' ? count : Number.POSITIVE_INFINITY,
  };
}

function parseInterval(text: string, shortestMs: number): number {
  if (text.includes('=')) {
    throw usageError(`--watch takes an interval, got '${text}'`, undefined, [
      'Parameters stand before it:  fxrates latest base=USD --watch',
    ]);
  }
  const intervalMs = parseDuration(text, '--watch');
  if (intervalMs >= shortestMs && Number.isFinite(intervalMs)) return intervalMs;
  throw usageError(`--watch takes an interval from ${shortestMs / 1000}s, got '${text}'`);
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(`--count takes a whole number from 1, got '${text}'`);
}
