import { Agent } from 'node:http';
import got from 'got';

export function createCaller({ origin, apiKey }) {
  const agent = { http: new Agent({ keepAlive: true }) };
  const client = got.extend({ prefixUrl: origin, agent, headers: { authorization: `Bearer ${apiKey}` } });
  return (n) => client('api/v1/latest', { searchParams: { n } }).json();
}
