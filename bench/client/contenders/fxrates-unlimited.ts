import { FxRates } from '../../../src/client/index.ts';
import type { CreateCaller } from '../contender.ts';

export const createCaller: CreateCaller = ({ origin, apiKey }) => {
  const fx = new FxRates({ baseUrl: origin, apiKey, rateLimit: false });
  return (n) => fx.latest({ n });
};
