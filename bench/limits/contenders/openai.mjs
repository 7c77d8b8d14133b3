import { OpenAI } from 'openai';

/** The generic `get` of the SDK: the retries are those of every method. */
export function createCaller({ origin, apiKey, retries }) {
  const client = new OpenAI({ apiKey, baseURL: `${origin}/api/v1`, ...(retries && { maxRetries: retries }) });
  return (n) => client.get('/latest', { query: { n } });
}
