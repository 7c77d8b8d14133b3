import { createClient as generate } from '@hey-api/openapi-ts';

/** Generates the client from openapi.yaml on every run. */
const root = new URL('../../../', import.meta.url).pathname;
const output = new URL('../../node_modules/.cache/hey-api', import.meta.url).pathname;
await generate({
  input: `${root}openapi.yaml`,
  output,
  plugins: ['@hey-api/client-fetch', '@hey-api/sdk'],
  logs: { level: 'silent' },
});
const { latest } = await import(`${output}/index.ts`);
const { client } = await import(`${output}/client.gen.ts`);

export function createCaller({ origin, apiKey }) {
  client.setConfig({ baseUrl: origin, headers: { authorization: `Bearer ${apiKey}` } });
  return async (n) => (await latest({ query: { n } })).data;
}
