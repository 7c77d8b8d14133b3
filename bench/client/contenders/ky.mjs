import ky from 'ky';

export function createCaller({ origin, apiKey }) {
  const client = ky.create({ prefixUrl: origin, headers: { authorization: `Bearer ${apiKey}` } });
  return (n) => client.get('api/v1/latest', { searchParams: { n } }).json();
}
