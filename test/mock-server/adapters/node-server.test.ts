import { getEventListeners, once } from 'node:events';
import net from 'node:net';
import { expect, test, vi } from 'vitest';
import { listenHttp, listenOptions } from '../../../src/mock-server/adapters/node-server.ts';
import type { HandleRequest } from '../../../src/mock-server/http/message.ts';
import { createMockServer, type Failure, type RuleOptions } from '../../../src/mock-server/index.ts';
import { runScript } from '../../helpers/child-program.ts';
import { byNodeHttp } from '../../helpers/mock-adapters.ts';
import { sendRaw } from '../../helpers/raw-server.ts';
import { until } from '../../helpers/until.ts';

const newMock = () => createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });

test('listens on a free port until close(), the end of an `await using` block, or mock.close()', async () => {
  const mock = newMock();
  const closed = await mock.serve();
  expect(closed.url).toBe(`http://127.0.0.1:${closed.port}`);
  expect((await fetch(`${closed.url}/api/v1/quota`, { headers: { connection: 'close' } })).status).toBe(401);
  await closed.close();
  await closed.close();
  const urls = [closed.url];
  {
    await using server = await mock.serve();
    urls.push(server.url);
  }
  for (const server of [await mock.serve(), await mock.serve()]) urls.push(server.url);
  const starting = mock.serve();
  const refused = mock.serve({ adminToken: 'short' });

  await Promise.all([mock.close(), expect(refused).rejects.toMatchObject({ code: 'invalid_option' })]);
  urls.push((await starting).url);

  for (const url of urls) await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});

test('listens with an AbortController that is not of Node.js, such as that of happy-dom', async () => {
  const Original = AbortController;
  class ForeignController {
    readonly #own = new Original();
    readonly signal = new Proxy(this.#own.signal, {
      get(target, name) {
        const value = name === 'constructor' ? Object : Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    abort(reason?: unknown): void {
      this.#own.abort(reason);
    }
  }
  vi.stubGlobal('AbortController', ForeignController);
  const mock = newMock();
  mock.rules.add({ fail: { kind: 'hang' } });

  const server = await mock.serve();
  vi.unstubAllGlobals();
  const ending = expect(fetch(`${server.url}/api/v1/quota`)).rejects.toThrow('fetch failed');
  await until(() => mock.journal.list().length === 1);
  await mock.close();

  await ending;
});

test('after close, a client does not reuse a connection with the next server on the port', async () => {
  const mock = newMock();
  const { port } = await mock.serve();
  await mock.close();

  for (let run = 0; run < 10; run += 1) {
    const server = await mock.serve({ port });
    const response = await fetch(`${server.url}/api/v1/quota`);
    await response.text();
    await server.close();
    expect([run, response.status]).toEqual([run, 401]);
  }
});

test('close sends a response in progress', async () => {
  const mock = newMock();
  const server = await mock.serve();
  const closing: Promise<void>[] = [];
  mock.rules.add({
    counted: false,
    respond: () => {
      closing.push(server.close());
      return { body: 'late' };
    },
  });

  expect(await (await fetch(`${server.url}/slow`)).text()).toBe('late');
  await closing[0];
});

const CUT_OFF: Failure = { kind: 'truncate', afterBytes: 29_000_000 };

test.each<[string, readonly RuleOptions[], string]>([
  ['sent half a body', [], 'POST /half HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc'],
  [
    'does not read a large body',
    [{ counted: false, match: { path: '/large' }, respond: { body: 'x'.repeat(30_000_000) }, fail: CUT_OFF }],
    'GET /large HTTP/1.1\r\nhost: x\r\n\r\n',
  ],
  [
    'waits for two responses on one connection',
    [
      { match: { path: '/first' }, fail: { kind: 'hang' } },
      { match: { path: '/second' }, fail: { kind: 'dribble', intervalMs: 1000 } },
    ],
    'GET /first HTTP/1.1\r\nhost: x\r\n\r\nGET /second HTTP/1.1\r\nhost: x\r\n\r\n',
  ],
])('close ends the connection of a client that %s', async (_, rules, sent) => {
  const mock = newMock();
  for (const rule of rules) mock.rules.add(rule);
  const server = await mock.serve();
  const socket = net.connect(server.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  socket.write(sent);
  for (const { path } of rules.flatMap(({ match }) => match ?? [])) await mock.journal.waitFor({ path });
  await fetch(server.url); // it is served after the bytes of the first connection were read

  await mock.close();

  socket.resume();
  await ended;
});

test('a pipelined response that waits ends when its client disconnects', async () => {
  const mock = newMock();
  mock.rules.add({ match: { path: '/first' }, fail: { kind: 'hang' } });
  mock.rules.add({ match: { path: '/second' }, delayMs: 60_000 });
  await using server = await mock.serve();
  const socket = net.connect(server.port, '127.0.0.1');
  socket.write('GET /first HTTP/1.1\r\nhost: x\r\n\r\nGET /second HTTP/1.1\r\nhost: x\r\n\r\n');
  await mock.journal.waitFor({ path: '/second' });

  socket.destroy();
  await until(() => mock.journal.list({ path: '/second', status: 0 }).length > 0);

  expect(mock.journal.list({ path: '/second' })[0]?.why).toMatch(/the client disconnected before the response$/);
});

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['CONNECT', 'CONNECT other.test:443 HTTP/1.1\r\nhost: other.test\r\n\r\n'],
])('close does not wait for a client that sends %s and keeps its half of the connection open', async (_, sent) => {
  const server = await newMock().serve();
  const client = net.connect({ port: server.port, allowHalfOpen: true });
  client.write(sent);
  await once(client.resume(), 'end');

  await server.close();

  client.destroy();
});

test('each worker of a cluster has a port of its own', async () => {
  const { stdout } = await runScript(`
    import cluster from 'node:cluster';
    import { createMockServer } from './src/mock-server/index.ts';
    if (cluster.isPrimary) {
      const urls = [];
      cluster.on('message', (_, url) => {
        if (urls.push(url) < 2) return void cluster.fork();
        console.log(new Set(urls).size);
        for (const worker of Object.values(cluster.workers)) worker.kill('SIGKILL');
      });
      cluster.fork();
    } else process.send((await createMockServer().serve()).url);
  `);

  expect(stdout).toBe('2\n');
});

test('names the next step if the port is in use', async () => {
  await using server = await newMock().serve();

  await expect(newMock().serve({ port: server.port })).rejects.toMatchObject({
    name: 'MockServerError',
    code: 'port_in_use',
    message: `Port ${server.port} of 127.0.0.1 is in use; use port 0 for a free one.`,
  });
});

test.each([
  [{ port: 70_000 }, 'port is 70000; expected a whole number'],
  [{ port: '80' as never }, 'port is "80"; expected a whole number'],
  [{ host: '0.0.0.0' }, 'host is "0.0.0.0"; expected a loopback address such as 127.0.0.1; set allowRemote: true'],
  [{ host: '192.168.1.1' }, 'host is "192.168.1.1"'],
  [{ hots: '127.0.0.1' } as never, 'hots is not an option of serve(); did you mean host? Valid names: port, host,'],
])('%j is rejected before the server listens', async (options, message) => {
  await expect(newMock().serve(options)).rejects.toThrow(message);
});

// IPv6 is often disabled on the loopback interface, also where a server can listen on `::`.
test.each(['0.0.0.0', '0', '', '::', '[::]', '::0', '0:0:0:0:0:0:0:0'])(
  'a server on all addresses, as %j, has a URL with 127.0.0.1',
  async (host) => {
    await using server = await newMock().serve({ host, allowRemote: true });

    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect((await fetch(`${server.url}/api/v1/quota`)).status).toBe(401);
  },
);

test.each(['::1', '[::1]', '0:0:0:0:0:0:0:1'])(
  'the URL of a server on %s has the address in brackets',
  async (host) => {
    await using server = await newMock().serve({ host, allowRemote: true });

    expect(server.url).toBe(`http://[::1]:${server.port}`);
    expect((await fetch(`${server.url}/api/v1/quota`)).status).toBe(401);
  },
);

test('keeps no listeners of ended requests on the signal that all requests share', async () => {
  const mock = createMockServer({ clock: 'virtual' });
  mock.rules.add({ delayMs: 5 });
  await using server = await mock.serve();
  const listens = vi.spyOn(AbortSignal.prototype, 'addEventListener');

  for (let request = 0; request < 3; request += 1) {
    await sendRaw(server, 'GET /api/v1/quota HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  }

  const signals = listens.mock.contexts as AbortSignal[];
  const shared = signals.filter((signal) => signals.filter((other) => other === signal).length === 3);
  expect(new Set(shared).size).toBe(1);
  expect(shared.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
});

test.each([
  ['an absolute target, by its path', 'GET http://elsewhere.test/api/v1/quota HTTP/1.1', 200],
  ['a fragment, without it', 'GET /api/v1/quota#x HTTP/1.1', 200],
  ['an escaped letter, as the letter', 'GET /api/v1/%71uota HTTP/1.1', 200],
  ['an escaped slash, as another path', 'GET /api%2Fv1/quota HTTP/1.1', 404],
  ['dot segments, as another path', 'GET /api/v1/../v1/quota HTTP/1.1', 404],
  ['HTTP/1.0, without a Host header', 'GET /api/v1/quota HTTP/1.0', 200],
  ['two Authorization headers, as a wrong key', 'GET /api/v1/quota HTTP/1.1\r\nauthorization: x', 401],
])('reads %s', async (_, start, status) => {
  const mock = newMock();
  await using server = await mock.serve();
  const { key } = mock.createKey();
  const host = start.includes('HTTP/1.0') ? '' : 'host: x\r\n';

  const response = await sendRaw(
    server,
    `${start}\r\n${host}authorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
  );

  expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test('a body that is too large is refused without reading it all, and the connection ends', async () => {
  await using server = await newMock().serve();
  const body = 'x'.repeat(3 * 1024 * 1024);

  const response = await sendRaw(
    server,
    `POST /api/v1/latest HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999\r\n\r\n${body}`,
  );

  expect(response).toMatch(/^HTTP\/1\.1 413 /);
  expect(response).toContain('"code":"content_too_large"');
});

test.each(['text/plain', '*/*', undefined])('GET / is ready for %s, outside the journal', async (accept) => {
  const mock = newMock();
  await using server = await mock.serve();

  const targets = ['/', '/?x=1', server.url, `${server.url}/`].flatMap((target) => [
    { target, method: 'GET' },
    { target, method: 'HEAD' },
  ]);
  for (const { target, method } of targets) {
    const { status, body } = await byNodeHttp(server.url)({ target, method, headers: accept ? { accept } : {} });
    expect([target, method, status]).toEqual([target, method, 200]);
    expect(body).toMatch(
      method === 'HEAD' ? /^$/ : /^The fxrates mock server is ready\. Health: \/__fxrates\/health; .*\n$/,
    );
  }
  expect(mock.journal.list()).toEqual([]);
  expect((await fetch(server.url, { method: 'POST' })).status).toBe(404);
});

test('GET / with a key reaches the rules and the journal', async () => {
  const mock = newMock();
  const { key } = mock.createKey();
  await using server = await mock.serve();
  mock.rules.add({ match: { path: '/', query: { base: 'EUR' } }, respond: { data: { base: 'EUR' } } });

  const statuses = [];
  for (const [target, headers] of [
    ['/?base=EUR', { authorization: `Bearer ${key}` }],
    [`/?api_key=${key}`, {}],
    [`/?api%5Fkey=${key}`, {}],
    [`/?other=${key}`, {}],
  ] as const) {
    statuses.push((await byNodeHttp(server.url)({ target, method: 'GET', headers })).status);
  }

  expect(statuses).toEqual([200, 404, 404, 404]);
  expect(mock.audit()).toMatchObject({ requests: 4, keysInUrls: { length: 3 }, unknownRoutes: { length: 3 } });
});

test('https on an http port is named once in a warning', async () => {
  await using server = await newMock().serve();
  const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);

  for (const hello of ['\x16\x03\x01\x00\x05hello', '\x16\x03\x01']) await sendRaw(server, hello);

  expect(warnings).toHaveBeenCalledTimes(1);
  expect(warnings).toHaveBeenCalledWith(expect.stringContaining('use http://'), expect.anything());
});

test('a client that disconnects during its body does not affect others', async () => {
  const mock = newMock();
  await using server = await mock.serve();
  const socket = net.connect(server.port, '127.0.0.1');
  socket.write('POST /api/v1/latest HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nabc');
  await once(socket, 'connect');

  socket.destroy();

  expect((await fetch(`${server.url}/api/v1/latest`)).status).toBe(401);
});

/** node:http refuses a trailer where no chunks are sent. */
const UNSENDABLE = { trailer: 'x', 'content-length': '4' };

test('an internal error in a response ends only its connection', async () => {
  const handleRequest: HandleRequest = ({ target }) => {
    if (target === '/bug') throw new Error('a bug');
    return { status: 200, headers: target === '/head' ? UNSENDABLE : {}, body: 'fine', code: undefined, why: '' };
  };
  await using server = await listenHttp(listenOptions.parse({}), {
    handleRequest,
    handleOwnPages: () => false,
  });

  for (const target of ['/bug', '/head']) await expect(fetch(server.url + target)).rejects.toThrow('fetch failed');
  expect(await (await fetch(server.url)).text()).toBe('fine');
});
