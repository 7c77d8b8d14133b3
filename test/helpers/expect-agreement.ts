import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import type * as z from 'zod/mini';
import { mutated } from './mutated.ts';

export interface Compared {
  readonly schema: z.ZodMiniType;
  /** The same question to another implementation. */
  readonly oracle: (value: unknown) => boolean;
  /** Valid values, from which the others are made. */
  readonly examples: readonly unknown[];
  readonly runs: number;
}

/** Both take the same values, and parsing changes none. Gives how many of the values were valid. */
export async function expectAgreement({ schema, oracle, examples, runs }: Compared): Promise<number> {
  let valid = 0;
  for (const example of examples) expect(oracle(example), `${JSON.stringify(example)} is a valid example`).toBe(true);
  const agree = (value: unknown) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) valid += 1;
    return parsed.success === oracle(value) && (!parsed.success || isDeepStrictEqual(parsed.data, value));
  };
  await fc.assert(fc.property(mutated(examples), agree), { numRuns: runs, seed: 20260121 });
  return valid;
}
