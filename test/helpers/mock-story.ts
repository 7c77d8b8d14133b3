import type { MockServer } from '../../src/mock-server/index.ts';
import type { PlainRequest, PlainResponse, Send } from './mock-adapters.ts';

/** Requests of one day to a mock. Every adapter must return the same responses. */
export async function story(mock: MockServer, send: Send): Promise<PlainResponse[]> {
  const { id, key } = mock.createKey({ plan: 'free' });
  const account = mock.accounts.create({ plan: 'developer' });
  mock.accounts.confirm(account.id);
  const other = mock.keys.create({ accountId: account.id });
  const bearer = { authorization: `Bearer ${key}` };
  const responses: PlainResponse[] = [];
  const play = async (requests: readonly PlainRequest[]) => {
    for (const request of requests) responses.push(await send(request));
  };

  await play([
    { target: '/api/v1/latest', headers: bearer },
    { target: '/api/v1/latest?base=EUR&symbols=USD,JPY', headers: { authorization: key } },
    { target: `/api/v1/quota?api_key=${key}` },
    { target: `/api/v1/latest?base=GBP&api_key=${key}`, headers: { authorization: `Bearer ${other.key}` } },
    { target: '/api/v1/latest?base=%3Cscript%3E', headers: bearer },
    { target: '/api/v1/latest?base=%E2%82%AC&symbols=%zz', headers: bearer },
    { target: '/api/v1/latest' },
    { target: '/api/v1/latest', headers: { authorization: 'Bearer' } },
    { target: '/api/v1/latest', headers: { authorization: `bearer   ${key}` } },
    { target: '/api/v1/latest', headers: { authorization: 'Basic dTpw' } },
    { target: '/api/v1/latest', headers: { authorization: `Bearer fx_live_${'0'.repeat(48)}` } },
    { target: '/api/v1/latest', headers: { authorization: `Bearer ${'x'.repeat(10_000)}` } },
    { method: 'HEAD', target: '/api/v1/latest', headers: bearer },
    { method: 'HEAD', target: '/api/v1/nothing', headers: bearer },
    { method: 'OPTIONS', target: '/api/v1/latest', headers: bearer },
    {
      method: 'OPTIONS',
      target: '/api/v1/latest',
      headers: { origin: 'https://page.test', 'access-control-request-method': 'GET' },
    },
    { target: '/api/v1/latest', headers: { ...bearer, 'if-none-match': '*' } },
    { method: 'POST', target: '/api/v1/latest', headers: bearer, body: '{"base":"EUR"}' },
    { method: 'DELETE', target: '/api/v1/quota', headers: bearer },
    { method: 'PUT', target: '/api/v1/quota', headers: bearer, body: 'x'.repeat(1024 * 1024 + 1) },
    { target: '/nothing', headers: bearer },
    { target: '/api/v1/latest/', headers: bearer },
    { target: '/api/v1//latest', headers: bearer },
    { target: '/API/V1/latest', headers: bearer },
    { target: '/api/v1/latest%2F', headers: bearer },
    { target: '/api/v1/%E0%A4%A', headers: bearer },
    { target: '/api/v1/historical?date=2026-01-01', headers: bearer },
  ]);
  await play(Array.from({ length: 26 }, () => ({ target: '/api/v1/latest', headers: bearer })));
  await mock.clock.advance(59_999);
  await play([{ target: '/api/v1/quota', headers: bearer }]);
  await mock.clock.advance(1);
  mock.keys.setUsage(id, { month: 999 });
  await play([
    { target: '/api/v1/latest', headers: bearer },
    { target: '/api/v1/latest', headers: bearer },
    { target: '/api/v1/quota', headers: bearer },
  ]);
  await mock.clock.advanceTo('quota-reset');
  mock.keys.revoke(other.id);
  await play([
    { target: '/api/v1/latest', headers: bearer },
    { target: '/api/v1/quota', headers: bearer },
    { target: '/api/v1/quota', headers: { authorization: other.key } },
  ]);
  return responses;
}
