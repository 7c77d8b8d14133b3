import { FxRates } from '../../../src/client/index.ts';
import type { CreateCaller } from '../contender.ts';

export const createCaller: CreateCaller = ({ origin, apiKey }) => {
  const fx = new FxRates({ baseUrl: origin, apiKey, cache: { maxAgeMs: 3_600_000 } });
  return () => fx.latest({ n: 'always the same' });
};
