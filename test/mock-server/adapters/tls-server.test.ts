import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { FxRates } from '../../../src/client/index.ts';
import { createTlsServer } from '../../../src/mock-server/adapters/tls-server.ts';
import type { MockServerError, TlsOptions } from '../../../src/mock-server/index.ts';
import { connectMockServer, createMockServer } from '../../../src/mock-server/index.ts';
import { listen } from '../../helpers/listen.ts';
import { selfSigned } from '../../helpers/self-signed.ts';

const tls = selfSigned();

/** A mock that serves https, and a dispatcher that trusts its certificate. */
async function served() {
  const mock = createMockServer();
  const server = await mock.serve({ host: 'localhost', tls });
  const agent = new Agent({ connect: { ca: tls.cert } });
  const headers = { authorization: `Bearer ${mock.createKey().key}` };
  const send = (path: string, own: Readonly<Record<string, string>> = headers) =>
    request(server.url + path, { dispatcher: agent, headers: own });
  const end = async () => {
    await agent.destroy();
    await mock.close();
  };
  return { mock, server, agent, send, [Symbol.asyncDispose]: end };
}

test('a client with an https base URL gets rates', async () => {
  await using mock = await served();
  const { key } = mock.mock.createKey();
  const fx = new FxRates({ apiKey: key, baseUrl: mock.server.url, dispatcher: mock.agent });

  expect(mock.server.url).toBe(`https://localhost:${mock.server.port}`);
  await using everywhere = await mock.mock.serve({ host: '', allowRemote: true, tls });
  expect(everywhere.url).toMatch(/^https:\/\/(?:\[::1\]|127\.0\.0\.1):/);
  expect(await fx.latest({ base: 'EUR' })).toMatchObject({ base: 'EUR' });
  await fx.close();
});

test('the pages and the admin API are served over https, and refuse pages of other origins', async () => {
  await using mock = await served();
  const { url, adminToken, adminUrl } = mock.server;
  const admin = { authorization: `Bearer ${adminToken}` };
  const statusOf = async (headers: object) => (await mock.send('/__fxrates/clock', { ...headers })).statusCode;

  expect(adminUrl.startsWith(`${url}/`)).toBe(true);
  expect((await mock.send('/__fxrates/', {})).statusCode).toBe(200);
  expect(await statusOf({ ...admin, origin: url })).toBe(200);
  await expect(connectMockServer(adminUrl).audit()).rejects.toThrow(
    /not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\); start/,
  );
  for (const foreign of ['https://evil.test', url.replace('https', 'http')])
    expect(await statusOf({ origin: foreign })).toBe(403);
});

test.each([
  [{ kind: 'reset' }, { code: 'ECONNRESET' }],
  [{ kind: 'reset', afterBytes: 5 }, { code: 'ECONNRESET' }],
  [{ kind: 'truncate', afterBytes: 5 }, { code: 'UND_ERR_SOCKET' }],
  [{ kind: 'malformed-chunk' }, { name: 'HTTPParserError' }],
] as const)('%j has the effect that it has over http', async (fail, error) => {
  await using mock = await served();
  mock.mock.rules.add({ fail });

  await expect(mock.send('/api/v1/latest').then(({ body }) => body.text())).rejects.toMatchObject(error);
});

test('a reset of one connection leaves the others open', async () => {
  await using mock = await served();
  const kept = connectTls({ port: mock.server.port, host: 'localhost', ca: tls.cert });
  await once(kept, 'secureConnect');
  mock.mock.rules.add({ times: 1, fail: { kind: 'reset' } });

  await expect(mock.send('/api/v1/latest')).rejects.toMatchObject({ code: 'ECONNRESET' });

  kept.write('GET /__fxrates/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect(await text(kept)).toMatch(/^HTTP\/1\.1 200 /);
});

test('closes while a client has not finished the handshake', async () => {
  await using mock = await served();
  const socket = connect(mock.server.port, 'localhost');
  await once(socket, 'connect');
  await mock.send('/api/v1/latest').then(({ body }) => body.text());
  const closed = once(socket, 'close');

  await mock.server.close();

  await closed;
});

test('closes a connection without a handshake after the time limit', async () => {
  const server = createTlsServer(tls, { headersTimeout: 20 }, () => undefined);
  server.on('clientError', (_, socket) => socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n'));
  const socket = connect(await listen(server), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });

  await once(socket, 'close');
});

test('http on the port of an https server gets no response', async () => {
  await using mock = await served();

  await expect(request(mock.server.url.replace('https', 'http'))).rejects.toThrow();
});

test('the certificate and the key may be bytes', async () => {
  await using mock = createMockServer();

  const { url } = await mock.serve({ tls: { cert: Buffer.from(tls.cert), key: new TextEncoder().encode(tls.key) } });

  expect(url).toMatch(/^https:/);
});

test.each<[string, unknown, string]>([
  ['a text', tls.key, ''],
  ['a list of keys', { ...tls, key: [tls.key] }, ''],
  ['no certificate', { key: tls.key }, ''],
  ['no key', { cert: tls.cert }, ''],
  ['a path', { ...tls, cert: './cert.pem' }, ''],
  ['the key as certificate', { ...tls, cert: tls.key }, ''],
  ['another key', { ...tls, key: selfSigned().key }, 'key values mismatch'],
  ['the certificate as key', { ...tls, key: tls.cert }, ''],
])('%s is refused as tls', async (_, given, reason) => {
  await using mock = createMockServer();

  const error: MockServerError = await mock.serve({ tls: given as TlsOptions }).then(Object, (thrown) => thrown);

  expect(error).toMatchObject({ code: 'invalid_option', field: 'tls' });
  expect(error.message).toMatch(
    /^tls is "…"; expected { cert, key }: a certificate and its private key, both as PEM, /,
  );
  expect(error.message).toContain(reason);
  expect(error.message).not.toContain('BEGIN');
});
