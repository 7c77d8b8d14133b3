import ky from 'ky';

export function createCaller({ origin, apiKey, retries }) {
  const client = ky.create({
    prefixUrl: `${origin}/api/v1`,
    headers: { authorization: `Bearer ${apiKey}` },
    timeout: false,
    ...(retries && { retry: retries }),
  });
  return (n) => client.get('latest', { searchParams: { n } }).json();
}
