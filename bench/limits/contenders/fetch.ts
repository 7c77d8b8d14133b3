import type { CreateCaller } from '../contender.ts';

export const createCaller: CreateCaller =
  ({ origin, apiKey }) =>
  async (n) => {
    const response = await fetch(`${origin}/api/v1/latest?n=${n}`, { headers: { authorization: `Bearer ${apiKey}` } });
    const body = await response.json();
    if (!response.ok) throw new Error(`${response.status}`);
    return body;
  };
