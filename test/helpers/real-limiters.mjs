// JavaScript, so that the types of these packages are not needed: real-limiters.d.mts has those of this file.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastifyRateLimit from '@fastify/rate-limit';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import fastify from 'fastify';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import sinon from 'sinon';
import { freePort } from '../../bench/free-port.ts';
import { quotaRecord, rateLimited, success } from './service-replies.ts';

const PER_MINUTE = 30;
const LATEST = success().body;
const QUOTA = success(quotaRecord()).body;
const REFUSAL = rateLimited().body;

/** Without nginx, tests and rows that need it are skipped. */
export const hasNginx = spawnSync('nginx', ['-v']).status === 0;

if (!hasNginx) process.stderr.write('SKIPPED: rate limits of a real nginx. Install nginx to run them.\n');

/** The limiters that read the time of this process. */
export const REAL_LIMITERS = {
  'express-rate-limit': startExpress,
  '@fastify/rate-limit': startFastify,
  'rate-limiter-flexible': () => startFlexible({}),
  'rate-limiter-flexible, blockDuration: 75': () => startFlexible({ blockDuration: 75 }),
};

/** Replaces `Date` and the timers of this process; the sockets keep the real time. */
export function startVirtualTime() {
  const toFake = ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'];
  const timers = sinon.useFakeTimers({ now: Date.now(), toFake });
  return { advance: () => timers.nextAsync(), [Symbol.dispose]: () => timers.restore() };
}

function startExpress() {
  const app = express();
  app.use(rateLimit({ windowMs: 60_000, limit: PER_MINUTE, keyGenerator: keyOf, message: REFUSAL }));
  app.get('/api/v1/latest', (_request, response) => response.json(LATEST));
  app.get('/api/v1/quota', (_request, response) => response.json(QUOTA));
  return serve(app);
}

async function startFastify() {
  const app = fastify();
  await app.register(fastifyRateLimit, { max: PER_MINUTE, timeWindow: 60_000, keyGenerator: keyOf });
  app.get('/api/v1/latest', () => LATEST);
  app.get('/api/v1/quota', () => QUOTA);
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  return { origin, [Symbol.asyncDispose]: () => app.close() };
}

/** With the Retry-After of its README, which has decimals. */
function startFlexible(options) {
  const limiter = new RateLimiterMemory({ points: PER_MINUTE, duration: 60, ...options });
  return serve(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    try {
      await limiter.consume(keyOf(request));
      response.end(JSON.stringify(request.url.startsWith('/api/v1/quota') ? QUOTA : LATEST));
    } catch ({ msBeforeNext }) {
      response.writeHead(429, { 'retry-after': String(msBeforeNext / 1000) }).end(JSON.stringify(REFUSAL));
    }
  });
}

function keyOf({ headers }) {
  return headers.authorization;
}

async function serve(listener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, [Symbol.asyncDispose]: close };
}

/** nginx reads the real time: for a client whose clock is `speed` times as fast, its rate is as much higher. */
export async function startNginx({ speed }) {
  const folder = mkdtempSync(join(tmpdir(), 'fxrates-nginx-'));
  const port = await freePort();
  mkdirSync(join(folder, 'api/v1'), { recursive: true });
  writeFileSync(join(folder, 'api/v1/latest'), JSON.stringify(LATEST));
  writeFileSync(join(folder, 'api/v1/quota'), JSON.stringify(QUOTA));
  writeFileSync(join(folder, 'nginx.conf'), nginxConfiguration({ folder, port, perMinute: PER_MINUTE * speed }));
  const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log = [];
  nginx.stderr.on('data', (text) => log.push(text));
  const close = async () => {
    process.off('exit', kill);
    if (nginx.exitCode === null && nginx.kill()) await once(nginx, 'exit');
    rmSync(folder, { recursive: true });
  };
  const kill = () => nginx.kill('SIGKILL');
  process.once('exit', kill);
  while (!(await accepts(port))) {
    if (nginx.exitCode !== null) throw new Error(`nginx did not start:\n${log.join('')}`);
  }
  return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

/** Without a Retry-After, as nginx refuses by itself. */
function nginxConfiguration({ folder, port, perMinute }) {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off; master_process off; pid ${folder}/nginx.pid;
    events {}
    http {
      ${paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
      access_log off;
      default_type application/json;
      limit_req_zone $http_authorization zone=key:1m rate=${perMinute}r/m;
      limit_req_status 429;
      server {
        listen 127.0.0.1:${port};
        root ${folder};
        location /api/ { limit_req zone=key burst=10 nodelay; }
      }
    }`;
}

async function accepts(port) {
  const socket = createConnection(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
