/** A bare node:http server that sends one body for every request: `node bare-server.mjs response.json port`. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [response, port] = process.argv.slice(2);
const { body, headers } = JSON.parse(readFileSync(response, 'utf8'));
createServer((_, outgoing) => outgoing.writeHead(200, headers).end(body)).listen(Number(port), '127.0.0.1');
