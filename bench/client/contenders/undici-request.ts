import { request } from 'undici';
import type { CreateCaller } from '../contender.ts';

export const createCaller: CreateCaller = ({ origin, apiKey }) => {
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' };
  return async (n) => {
    const { body } = await request(`${origin}/api/v1/latest?n=${n}`, { headers });
    return JSON.parse(await body.text());
  };
};
