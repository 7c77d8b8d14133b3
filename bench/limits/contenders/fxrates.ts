import { FxRates } from '../../../src/client/index.ts';
import type { CreateCaller } from '../contender.ts';

/** The parameter makes each call different: identical concurrent calls share one request. */
export const createCaller: CreateCaller = ({ origin, apiKey, perMinute }) => {
  const rateLimit = { perMinute: perMinute ?? 'learn' } as const;
  const fx = new FxRates({ baseUrl: origin, apiKey, deadlineMs: false, timeoutMs: 600_000, rateLimit });
  return (n) => fx.latest({ n });
};
