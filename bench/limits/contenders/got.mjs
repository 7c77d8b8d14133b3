import got from 'got';

export function createCaller({ origin, apiKey, retries }) {
  const client = got.extend({
    prefixUrl: `${origin}/api/v1`,
    headers: { authorization: `Bearer ${apiKey}` },
    ...(retries && { retry: { limit: retries } }),
  });
  return (n) => client.get('latest', { searchParams: { n } }).json();
}
