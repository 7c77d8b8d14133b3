import { OpenAI } from 'openai';

/** Calls the generic `get` of the SDK, which retries like all its methods. */
export function createCaller({ origin, apiKey, retries }) {
  const client = new OpenAI({ apiKey, baseURL: `${origin}/api/v1`, ...(retries && { maxRetries: retries }) });
  return (n) => client.get('/latest', { query: { n } });
}
