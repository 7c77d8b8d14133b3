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

/** The candidates, requests or patterns, that nearly match: up to three, those with the fewest differences first. */
export function nearMisses<Candidate>(
  candidates: readonly Candidate[],
  compare: (candidate: Candidate) => Comparison,
): readonly NearMiss<Candidate>[] {
  return candidates
    .map((candidate) => ({ candidate, ...compared(compare(candidate)) }))
    .filter(({ isClose }) => isClose)
    .sort((one, other) => one.differences.length - other.differences.length)
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
  return { differences, isClose: differences.length > 0 && hasMatch };
}

function textOf({ field, actual, expected }: Difference): string {
  return `${field}: ${actual}, expected ${expected}`;
}

function countFields({ query = {}, headers = {}, ...others }: RequestPattern): number {
  return Object.keys(query).length + Object.keys(headers).length + Object.keys(others).length;
}
