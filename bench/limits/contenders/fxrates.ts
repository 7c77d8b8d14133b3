import { FxRates } from '../../../src/client/index.ts';
import type { CreateCaller } from '../contender.ts';

/** The parameter keeps the calls apart: identical ones at the same time would share one request. */
export const createCaller: CreateCaller = ({ origin, apiKey, perMinute }) => {
  const fx = new FxRates({
    baseUrl: origin,
    apiKey,
    deadlineMs: false,
    rateLimit: { perMinute: perMinute ?? 'learn' },
  });
  return (n) => fx.latest({ n });
};
