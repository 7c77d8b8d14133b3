/** A bare node:http server that sends one body for every request: `node bare-server.mjs answer.json port`. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [answer, port] = process.argv.slice(2);
const { body, headers } = JSON.parse(readFileSync(answer, 'utf8'));
createServer((_, outgoing) => outgoing.writeHead(200, headers).end(body)).listen(Number(port), '127.0.0.1');
