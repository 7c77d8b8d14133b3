import { REST } from '@discordjs/rest';

/** With the timeout of an attempt that fxrates has; everything else is its default. */
export function createCall({ fetch, origin, apiKey }) {
  const options = { api: `${origin}/api`, version: '1', authPrefix: 'Bearer', timeout: 10_000, makeRequest: fetch };
  const rest = new REST(options).setToken(apiKey);
  return (n, signal) => rest.get('/latest', { query: new URLSearchParams({ n: String(n) }), signal });
}
