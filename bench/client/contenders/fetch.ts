import type { CreateCaller } from '../contender.ts';

export const createCaller: CreateCaller = ({ origin, apiKey }) => {
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' };
  return async (n) => (await fetch(`${origin}/api/v1/latest?n=${n}`, { headers })).json();
};
