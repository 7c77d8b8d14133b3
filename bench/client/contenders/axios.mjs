import { Agent } from 'node:http';
import axios from 'axios';

export function createCaller({ origin, apiKey }) {
  const httpAgent = new Agent({ keepAlive: true });
  const client = axios.create({ baseURL: origin, httpAgent, headers: { authorization: `Bearer ${apiKey}` } });
  return async (n) => (await client.get('/api/v1/latest', { params: { n } })).data;
}
