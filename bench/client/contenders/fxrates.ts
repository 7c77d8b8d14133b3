import { builtClient } from '../../built.ts';
import type { CreateCaller } from '../contender.ts';

/** A limit that is never reached: the bench measures the work per call. */
const PER_MINUTE = 100_000_000;

export const createCaller: CreateCaller = async ({ origin, apiKey }) => {
  const { FxRates } = await builtClient();
  const fx = new FxRates({ baseUrl: origin, apiKey, rateLimit: { perMinute: PER_MINUTE } });
  return (n) => fx.latest({ n });
};
