/**
 * Responds to every request with the same 170 rates. It has its own process, so that it adds no cost to the clients.
 */
import { createServer } from 'node:http';

const A = 'A'.charCodeAt(0);
const code = (place: number) => String.fromCharCode(A + (place % 26), A + (Math.floor(place / 26) % 26), A + 23);
const rates = Object.fromEntries(Array.from({ length: 170 }, (_, place) => [code(place), 1 + place / 7]));
const body = Buffer.from(JSON.stringify({ success: true, data: { base: 'USD', date: '2026-11-21', rates } }));

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
});
// Longer than the turns of the other contenders: a request over a connection that is just being closed would fail.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '');
});
process.on('disconnect', () => process.exit());
