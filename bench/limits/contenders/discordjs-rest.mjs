import { REST } from '@discordjs/rest';

export function createCaller({ origin, apiKey }) {
  const options = { api: `${origin}/api`, version: '1', authPrefix: 'Bearer', timeout: 600_000 };
  const rest = new REST(options).setToken(apiKey);
  return (n) => rest.get('/latest', { query: new URLSearchParams({ n: String(n) }) });
}
