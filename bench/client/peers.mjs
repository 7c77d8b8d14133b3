/** The other clients, by name. Each is loaded when it is measured; they need the packages of bench/package.json. */
import { Agent } from 'node:http';

export const peers = {
  async 'openapi-fetch'({ origin, headers }) {
    const { default: createClient } = await import('openapi-fetch');
    const client = createClient({ baseUrl: origin, headers });
    return async (n) => (await client.GET('/api/v1/latest', { params: { query: { n } } })).data;
  },

  /** Generates the client from openapi.yaml on every run. */
  async 'hey-api'({ origin, headers }) {
    const { createClient: generate } = await import('@hey-api/openapi-ts');
    const output = new URL('../node_modules/.cache/hey-api', import.meta.url).pathname;
    const input = new URL('../../openapi.yaml', import.meta.url).pathname;
    await generate({
      input,
      output,
      plugins: ['@hey-api/client-fetch', '@hey-api/sdk'],
      logs: { level: 'silent' },
    });
    const { latest } = await import(`${output}/index.ts`);
    const { client } = await import(`${output}/client.gen.ts`);
    client.setConfig({ baseUrl: origin, headers });
    return async (n) => (await latest({ query: { n } })).data;
  },

  async ofetch({ origin, headers }) {
    const { ofetch } = await import('ofetch');
    const call = ofetch.create({ baseURL: origin, headers });
    return (n) => call('/api/v1/latest', { query: { n } });
  },

  async ky({ origin, headers }) {
    const { default: ky } = await import('ky');
    const client = ky.create({ prefixUrl: origin, headers });
    return (n) => client.get('api/v1/latest', { searchParams: { n } }).json();
  },

  async axios({ origin, headers }) {
    const { default: axios } = await import('axios');
    const client = axios.create({ baseURL: origin, httpAgent: new Agent({ keepAlive: true }), headers });
    return async (n) => (await client.get('/api/v1/latest', { params: { n } })).data;
  },

  async got({ origin, headers }) {
    const { default: got } = await import('got');
    const client = got.extend({ prefixUrl: origin, agent: { http: new Agent({ keepAlive: true }) }, headers });
    return (n) => client('api/v1/latest', { searchParams: { n } }).json();
  },
};
