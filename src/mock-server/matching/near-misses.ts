import { editDistance } from '../../nearest-name.ts';
import type { Difference, RequestPattern } from './request-pattern.ts';

interface Comparison {
  readonly pattern: RequestPattern;
  readonly differences: Iterable<Difference>;
}

/** A pair of request and pattern that nearly match. */
interface NearMiss<Candidate> {
  readonly candidate: Candidate;
  /** `differs in query.base: 'USD', expected 'EUR'` */
  readonly text: string;
}

/**
 * The candidates, requests or patterns, that nearly match: up to three, the nearest first. Of those at the same distance the
 * last one is first: it is the newest request, or the stub that would apply.
 */
export function nearMisses<Candidate>(
  candidates: readonly Candidate[],
  compare: (candidate: Candidate) => Comparison,
): readonly NearMiss<Candidate>[] {
  return candidates
    .map((candidate) => ({ candidate, ...compared(compare(candidate)) }))
    .filter(({ isClose }) => isClose)
    .reverse()
    .sort((one, other) => one.distance - other.distance)
    .slice(0, MOST_CLOSE)
    .map(({ candidate, differences }) => ({ candidate, text: `differs in ${differences.map(textOf).join('; ')}` }));
}

const MOST_CLOSE = 3;

function compared({ pattern, differences: found }: Comparison) {
  const differences = [...found];
  // A candidate without any match is no help.
  const hasMatch =
    differences.length < countFields(pattern) ||
    differences.every(({ field }) => /^(?:query|headers)\.|^body$/.test(field));
  const distance = differences.reduce((sum, difference) => sum + distanceOf(difference), 0);
  return { differences, distance, isClose: differences.length > 0 && hasMatch };
}

/** From 0, for texts that differ in upper and lower case only, to 1, for a value that is absent. */
function distanceOf({ actual, expected }: Difference): number {
  if (actual === 'absent' || expected === 'absent') return 1;
  return editDistance(actual.toLowerCase(), expected.toLowerCase()) / Math.max(actual.length, expected.length);
}

function textOf({ field, actual, expected }: Difference): string {
  return `${field}: ${actual}, expected ${expected}`;
}

function countFields({ query = {}, headers = {}, ...others }: RequestPattern): number {
  return Object.keys(query).length + Object.keys(headers).length + Object.keys(others).length;
}
