import createClient from 'openapi-fetch';

export function createCaller({ origin, apiKey }) {
  const client = createClient({ baseUrl: origin, headers: { authorization: `Bearer ${apiKey}` } });
  return async (n) => (await client.GET('/api/v1/latest', { params: { query: { n } } })).data;
}
