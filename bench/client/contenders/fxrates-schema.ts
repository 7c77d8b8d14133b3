import * as z from 'zod';
import { builtClient } from '../../built.ts';
import type { CreateCaller } from '../contender.ts';

const schema = z.object({ base: z.string(), date: z.iso.date(), rates: z.record(z.string(), z.number()) });

export const createCaller: CreateCaller = async ({ origin, apiKey }) => {
  const { FxRates } = await builtClient();
  const fx = new FxRates({ baseUrl: origin, apiKey, rateLimit: { perMinute: 100_000_000 } });
  return (n) => fx.latest({ n }, { schema });
};
