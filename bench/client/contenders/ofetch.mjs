import { ofetch } from 'ofetch';

export function createCaller({ origin, apiKey }) {
  const call = ofetch.create({ baseURL: origin, headers: { authorization: `Bearer ${apiKey}` } });
  return (n) => call('/api/v1/latest', { query: { n } });
}
