import type { Sample } from '../../generated/operations.ts';
import type { Random } from '../service/random.ts';

/** A value of the sample. The same random numbers make the same value. */
export function sampleValue(sample: Sample, random: Random): unknown {
  switch (sample.kind) {
    case 'values':
      return sample.values[random.uint32() % sample.values.length];
    case 'number': {
      const { from, to, step } = sample;
      const steps = Math.floor((to - from) / step + 1e-9) + 1;
      // A sum of steps has digits that nobody meant: 0.1 + 0.2.
      return Number((from + (random.uint32() % steps) * step).toPrecision(12));
    }
    case 'list':
      return sample.items.map((item) => sampleValue(item, random));
    case 'object':
      return Object.fromEntries(
        Object.entries(sample.fields).map(([name, field]) => [name, sampleValue(field, random)]),
      );
  }
}
