import { editDistance } from './edit-distance.ts';
import { MockServerError } from './mock-server-error.ts';

interface Unknown {
  /** What the name should have been: 'a switch'. */
  readonly what: string;
  readonly known: readonly string[];
}

/** A name that means nothing here: says so, what was probably meant, and what there is. `place` ends with a dot. */
export function unknownName(name: string, { what, known }: Unknown, place = ''): MockServerError {
  const nearest = nearestName(name, known);
  const there = nearest === undefined ? 'there are' : `did you mean ${nearest}? There are`;
  return new MockServerError(`${place}${name} is not ${what}; ${there} ${known.join(', ')}.`, {
    code: 'invalid_option',
  });
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= candidate.length / 3)
    .sort((one, other) => one.distance - other.distance);
  return best?.candidate;
}

/** No typing mistake is that long, and the comparison takes time with the length. */
const LONGEST_NAME = 100;
