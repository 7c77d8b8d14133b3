import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasBundle, runBundle } from '../helpers/cli-bundle.ts';
import { type ConnectProxy, startConnectProxy } from '../helpers/connect-proxy.ts';
import { close, listen } from '../helpers/listen.ts';
import { startRawServer } from '../helpers/raw-server.ts';
import { API_KEY, quotaRecord } from '../helpers/service-replies.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
const CA = fixture('cert.pem');
const BODY = JSON.stringify({ success: true, data: quotaRecord() });

/** The key that arrived at the service, and the connection that it used. */
const arrived: { key: string | undefined; host: string | undefined; proxyHeaders: string[] }[] = [];
const respond: RequestListener = ({ headers }, response) => {
  const proxyHeaders = Object.keys(headers).filter((name) => name.startsWith('proxy-auth'));
  arrived.push({ key: headers.authorization, host: headers.host, proxyHeaders });
  response.setHeader('content-type', 'application/json').end(BODY);
};

let secure: Server;
let secureProxy: ConnectProxy;
let securePort = 0;

beforeAll(async () => {
  secure = createServer({ key: readFileSync(fixture('key.pem')), cert: readFileSync(CA) }, respond);
  securePort = await listen(secure);
  secureProxy = await startConnectProxy({ port: securePort });
});

afterAll(() => Promise.all([secureProxy.close(), close(secure)]));

beforeEach(() => {
  arrived.length = 0;
});

const plan = (args: readonly string[], env: Record<string, string>) =>
  runBundle(['quota', '--get', 'plan', '--retries', '0', '--timeout', '10s', ...args], {
    env: { FXRATES_API_KEY: API_KEY, ...env },
  });

describe.skipIf(!hasBundle)('the built command', () => {
  test('trusts the certificate of NODE_EXTRA_CA_CERTS', async () => {
    const { code, stdout } = await plan([], {
      FXRATES_BASE_URL: `https://localhost:${securePort}`,
      NODE_EXTRA_CA_CERTS: CA,
    });

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'free\n' });
    expect(arrived).toEqual([{ key: `Bearer ${API_KEY}`, host: `localhost:${securePort}`, proxyHeaders: [] }]);
  });

  test('without the certificate, sends nothing and names NODE_EXTRA_CA_CERTS', async () => {
    const { code, stdout, stderr } = await plan([], { FXRATES_BASE_URL: `https://localhost:${securePort}` });

    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toContain('DEPTH_ZERO_SELF_SIGNED_CERT; the certificate is not signed by a trusted authority');
    expect(stderr).toContain('export NODE_EXTRA_CA_CERTS=');
    expect(arrived).toEqual([]);
  });

  test('HTTPS_PROXY: a tunnel, in which the proxy sees neither path nor key', async () => {
    const before = secureProxy.requests.length;
    const { code, stdout, stderr } = await plan(['-vv'], {
      FXRATES_BASE_URL: 'https://rates.fxrates.test',
      NODE_EXTRA_CA_CERTS: CA,
      HTTPS_PROXY: secureProxy.url.replace('http://', 'http://user:p%40ss@'),
      NO_PROXY: 'elsewhere.test',
    });

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'free\n' });
    expect(secureProxy.requests.slice(before)).toEqual(['CONNECT rates.fxrates.test:443']);
    expect(secureProxy.credentials.at(-1)).toBe('user:p@ss');
    expect(arrived).toEqual([{ key: `Bearer ${API_KEY}`, host: 'rates.fxrates.test', proxyHeaders: [] }]);
    expect(stderr).not.toMatch(/p@ss|p%40ss/);
    expect(stderr).not.toContain(API_KEY);
  });

  test('the certificate is that of the service, through a tunnel as well', async () => {
    const { code, stderr } = await plan([], {
      FXRATES_BASE_URL: 'https://other.fxrates.test',
      NODE_EXTRA_CA_CERTS: CA,
      HTTPS_PROXY: secureProxy.url,
    });

    expect(code).toBe(6);
    expect(stderr).toContain('the certificate is for another host');
    expect(arrived).toEqual([]);
  });

  test.each([
    [
      'hangs up',
      (socket: Socket) => void socket.once('data', () => socket.destroy()),
      '10s',
      '(HTTPS_PROXY) closed the connection',
    ],
    ['never responds', () => undefined, '1s', 'no complete response from rates.fxrates.test within 1s'],
  ])('a proxy that %s receives one request, and the command ends', async (_, onConnection, timeout, says) => {
    const proxy = await startRawServer({ onConnection });
    const { code, stderr } = await plan(['--timeout', timeout], {
      FXRATES_BASE_URL: 'https://rates.fxrates.test',
      HTTPS_PROXY: proxy.url,
    });

    expect({ code, connections: proxy.connections() }).toEqual({ code: 6, connections: 1 });
    expect(stderr).toContain(says);
    await proxy.close();
  });

  test('doctor checks the whole path, through proxy and certificate', async () => {
    const { code, stdout } = await runBundle(['doctor', '-o', 'table'], {
      env: {
        FXRATES_API_KEY: API_KEY,
        FXRATES_BASE_URL: 'https://rates.fxrates.test',
        NODE_EXTRA_CA_CERTS: CA,
        HTTPS_PROXY: secureProxy.url,
      },
    });

    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {4}proxy {8}HTTPS_PROXY: 127/m);
    expect(stdout).toMatch(/^ok {4}service {6}accepts the key; its certificate is valid$/m);
    expect(stdout).toMatch(/^ok {4}clock {8}differs by less/m);
    expect(stdout).not.toMatch(/^(warn|fail)/m);
  });
});
