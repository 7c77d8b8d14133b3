import { REST } from '@discordjs/rest';

/** With the attempt timeout of fxrates; all other options keep their defaults. */
export function createCall({ fetch, origin, apiKey }) {
  const options = { api: `${origin}/api`, version: '1', authPrefix: 'Bearer', timeout: 10_000, makeRequest: fetch };
  const rest = new REST(options).setToken(apiKey);
  return (n, signal) => rest.get('/latest', { query: new URLSearchParams({ n: String(n) }), signal });
}
