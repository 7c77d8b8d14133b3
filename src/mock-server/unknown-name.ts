import { nearestName } from '../nearest-name.ts';
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
