/**
 * Responds to `latest` with the same 170 rates, and to `quota` with 300 requests per minute, which it does not limit. It has its
 * own process, so that it adds no cost to the clients. A base URL with the path `/100` delays each response by 100 ms; with
 * `/100/no-quota`, `quota` is a 404.
 */
import { createServer } from 'node:http';
import { quotaRecord } from '../../test/helpers/service-replies.ts';

const A = 'A'.charCodeAt(0);
const code = (place: number) => String.fromCharCode(A + (place % 26), A + (Math.floor(place / 26) % 26), A + 23);
const rates = Object.fromEntries(Array.from({ length: 170 }, (_, place) => [code(place), 1 + place / 7]));
const latest = Buffer.from(JSON.stringify({ success: true, data: { base: 'USD', date: '2026-11-21', rates } }));
const quota = Buffer.from(JSON.stringify({ success: true, data: quotaRecord({ rate_limit_per_minute: 300 }) }));

const server = createServer(({ url = '' }, response) => {
  const isQuota = url.endsWith('/quota');
  const status = isQuota && url.includes('/no-quota/') ? 404 : 200;
  const body = isQuota ? quota : latest;
  const respond = () =>
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  const delayMs = Number.parseInt(url.slice(1), 10);
  if (delayMs > 0) setTimeout(respond, delayMs);
  else respond();
});
// Longer than the turns of the other contenders: a request over a connection that is just being closed would fail.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '');
});
process.on('disconnect', () => process.exit());
