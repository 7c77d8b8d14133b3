import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage, type Server } from 'node:http';
import net from 'node:net';
import { expect, test } from 'vitest';
import { adminRoutes } from '../../src/mock-server/admin/routes.ts';
import { createMockServer, type RunningServer, type ServeOptions } from '../../src/mock-server/index.ts';

async function serving(options: ServeOptions = {}) {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const server = await mock.serve(options);
  return { mock, server, [Symbol.asyncDispose]: () => mock.close() };
}

/** Sends raw text and returns everything received until the connection closes. */
async function raw({ port }: RunningServer, text: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  let response = '';
  socket.on('data', (chunk) => {
    response += chunk;
  });
  socket.on('error', () => undefined); // the server may close the connection before it has read everything
  socket.write(text);
  await once(socket, 'close');
  return response;
}

const get = (target: string, host: string) => `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;

test.each(['/__fxrates', '/__fxrates/', '/__fxrates/panel.js', '/__fxrates/clock'])(
  '%s is not served under a foreign host name, as DNS rebinding would use',
  async (target) => {
    await using it = await serving();

    const responses = await Promise.all(
      ['evil.example', 'localhost', 'LOCALHOST:8080', '127.0.0.1:80', '[::1]', '[::1]:4010'].map((host) =>
        raw(it.server, get(target, host)),
      ),
    );

    expect(responses[0]).toMatch(/^HTTP\/1\.1 403 .*foreign_host/s);
    for (const response of responses.slice(1)) expect(response).not.toMatch(/^HTTP\/1\.1 403 /);
  },
);

test.each(['mock:4010', 'my_mock', 'host.docker.internal:4010', 'mock.default.svc.cluster.local', 'mock.test'])(
  'a mock that other machines may reach shows its pages under the private name %s',
  async (host) => {
    await using it = await serving({ host: '0.0.0.0', allowRemote: true });

    expect(await raw(it.server, get('/__fxrates/', host))).toMatch(/^HTTP\/1\.1 200 /);
  },
);

test.each(['evil.example', 'mock.evil.example:4010', 'internal.example', 'mock.local', ''])(
  'a mock that other machines may reach shows no page under the name %j, as DNS rebinding would',
  async (host) => {
    await using it = await serving({ host: '0.0.0.0', allowRemote: true });

    for (const path of ['/__fxrates/', '/__fxrates/clock', '/__fxrates/openapi.json']) {
      expect(await raw(it.server, get(path, host))).toMatch(/^HTTP\/1\.1 40[03] /);
    }
  },
);

test('a mock on the loopback serves no page under a private name', async () => {
  await using it = await serving();

  expect(await raw(it.server, get('/__fxrates/', 'mock:4010'))).toMatch(/^HTTP\/1\.1 403 /);
});

test('health and requests with the admin token work under any host name', async () => {
  await using it = await serving({ host: '0.0.0.0', allowRemote: true });
  const withToken = get('/__fxrates/clock', 'mock.evil.example').replace(
    '\r\n\r\n',
    `\r\nauthorization: Bearer ${it.server.adminToken}\r\n\r\n`,
  );

  expect(await raw(it.server, get('/__fxrates/health', 'mock.evil.example'))).toMatch(/^HTTP\/1\.1 200 /);
  expect(await raw(it.server, withToken)).toMatch(/^HTTP\/1\.1 200 /);
});

test('the admin token can be chosen, and a short one is refused without being shown', async () => {
  await using it = await serving({ adminToken: 'chosen-in-advance' });

  expect(it.server.adminUrl).toMatch(/#token=chosen-in-advance$/);
  await expect(it.mock.serve({ adminToken: 'short' })).rejects.toThrow(
    'adminToken is "…"; expected 16 to 128 letters, digits, _ and -.',
  );
});

const OUTSIDE = ['/api/../__fxrates/state', '/api%2f..%2f__fxrates/state', '/api//../__fxrates/state'];
const INSIDE = [
  '/__fxrates/%2e%2e/%2e%2e/etc/passwd',
  '/__fxrates/..%5c..%5cpackage.json',
  '/__fxrates/panel.js%00.css',
];

test.each([...OUTSIDE, ...INSIDE, 'http://evil.example/__fxrates/state', '*', '/__fxrates/state/../health'])(
  'the path %s reaches no file and does not bypass the token',
  async (target) => {
    await using it = await serving();

    const response = await raw(it.server, get(target, '127.0.0.1'));

    expect(response).toMatch(/^HTTP\/1\.1 40[0134] /);
    expect(response).not.toMatch(/root:|"dependencies"|"accounts"/);
  },
);

test('endless headers and bodies are rejected, and the connection ends', async () => {
  await using it = await serving();
  const host = 'host: 127.0.0.1\r\n';
  const length = 'content-length: 99999999\r\n';
  const requests = [
    `GET /__fxrates/ HTTP/1.1\r\n${host}cookie: ${'x'.repeat(20_000)}`,
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${host}`,
    `POST /api/v1/latest HTTP/1.1\r\n${host}${length}\r\n${'x'.repeat(2_000_000)}`,
    `POST /__fxrates/clock HTTP/1.1\r\n${host}authorization: Bearer ${it.server.adminToken}\r\ncontent-type: application/json\r\n${length}\r\n${'1'.repeat(2_000_000)}`,
  ];

  for (const request of requests) expect(await raw(it.server, request)).toMatch(/^HTTP\/1\.1 4(?:13|14|31) /);
});

test.each(['/__fxrates/', '/__fxrates/panel.css', '/__fxrates/panel.js', '/__fxrates/state'])(
  '%s is not stored, not framed, not loaded by another site, and has a fixed type',
  async (target) => {
    await using it = await serving();

    const { headers } = await fetch(it.server.url + target);

    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'same-origin',
    });
    if (!headers.get('content-type')?.startsWith('text/html')) return;
    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]));
  },
);

test('a slow request times out: its head after 10 s, the whole request after 30 s', async () => {
  await using it = await serving();
  let server: Server | undefined;
  const note = (message: unknown) => {
    server = (message as { readonly server: Server }).server;
  };
  subscribe('http.server.request.start', note);
  await raw(it.server, get('/api/v1/quota', '127.0.0.1'));
  unsubscribe('http.server.request.start', note);

  // node:http measures these timeouts in real time.
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 });
});

test('no page, response or stream of a mock shows a key, wherever a request contained it', async () => {
  await using it = await serving();
  const { mock, server } = it;
  const { id, key, accountId } = mock.createKey({ plan: 'developer' });
  const authorization = `Bearer ${server.adminToken}`;
  const stream = httpGet(`${server.url}/__fxrates/events?after=0`, { headers: { authorization } });
  const [events] = (await once(stream, 'response')) as [IncomingMessage];
  let seen = '';
  events.on('data', (chunk) => {
    seen += chunk;
  });
  const places = [
    get(`/api/v1/latest?api_key=${key}&base=${key}`, key),
    get(`/${key}/${key}`, '127.0.0.1').replace('\r\n\r\n', `\r\nauthorization: ${key}\r\ncookie: ${key}\r\n\r\n`),
    get(`/__fxrates/keys/${key}?${key}=${key}`, '127.0.0.1').replace(
      '\r\n\r\n',
      `\r\nauthorization: ${authorization}\r\n\r\n`,
    ),
    `${key} /api/v1/latest HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  ];
  for (const text of places) seen += await raw(server, text);
  for (const { method, path, isStream } of adminRoutes) {
    if (method !== 'GET' || isStream === true) continue;
    const target = path.replace('{accountId}', accountId).replace('{keyId}', id).replace('{number}', '1');
    seen += await (await fetch(`${server.url}/__fxrates${target}`, { headers: { authorization } })).text();
  }
  stream.destroy();

  expect(seen).toContain(key.slice(-4));
  expect(seen).toContain('/api/v1/latest');
  expect(seen).not.toContain(key.slice(key.lastIndexOf('_') + 1, -4));
});
