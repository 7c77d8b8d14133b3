import { builtClient } from '../../built.ts';
import type { CreateCaller } from '../contender.ts';

export const createCaller: CreateCaller = async ({ origin, apiKey }) => {
  const { FxRates } = await builtClient();
  const fx = new FxRates({ baseUrl: origin, apiKey, rateLimit: false });
  return (n) => fx.latest({ n });
};
