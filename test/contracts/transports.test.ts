import { Agent } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { httpFetch } from '../../src/cli/io/http-fetch.ts';
import { FxRates, type FxRatesOptions } from '../../src/client/index.ts';
import { FakeClock, quiet } from '../helpers/fake-clock.ts';
import { hangUp, type RawRequest, type RawServer, respond, startRawServer } from '../helpers/raw-server.ts';
import { API_KEY, success } from '../helpers/service-replies.ts';
import { errorOf } from '../helpers/test-client.ts';

/** A virtual time after the waits of a call and before its timeouts; sockets need a short real time. */
const HORIZON = { horizonMs: 3_600_000 };
const FAR_MS = 10 * HORIZON.horizonMs;

const transports: [string, () => FxRatesOptions][] = [
  ['undici', () => ({})],
  ['an undici dispatcher', () => ({ dispatcher: new Agent() })],
  ['fetch', () => ({ fetch: globalThis.fetch })],
  ['the fetch of the command line', () => ({ fetch: httpFetch })],
];

const servers: RawServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(options: Parameters<typeof startRawServer>[0]): Promise<RawServer> {
  const server = await startRawServer(options);
  servers.push(server);
  return server;
}

const ok = { body: JSON.stringify(success({ EUR: 0.92 }).body) };

describe.each(transports)('%s', (_, transport) => {
  function client(server: RawServer, options: FxRatesOptions = {}) {
    const clock = new FakeClock();
    const fx = new FxRates({
      baseUrl: server.url,
      apiKey: API_KEY,
      clock,
      timeoutMs: FAR_MS,
      deadlineMs: false,
      maxRetries: 0,
      logger: { warn: () => undefined },
      ...transport(),
      ...options,
    });
    return { fx, clock };
  }

  /** A server with this behaviour, and its client. */
  async function serving(onRequest: (request: RawRequest) => unknown, options?: FxRatesOptions) {
    const server = await serve({ onRequest });
    return { server, ...client(server, options) };
  }

  /** The error of one call to a server with this behaviour. */
  async function errorFrom(onRequest: (request: RawRequest) => unknown, options?: FxRatesOptions) {
    const { fx, clock, server } = await serving(onRequest, options);
    const error = await clock.run(errorOf(fx.latest()), HORIZON);
    return { error, server };
  }

  test('sends a request by the contract and returns the response', async () => {
    const { fx, clock, server } = await serving(({ socket }) => respond(socket, ok));

    const { data, meta } = await clock.run(fx.latest({ base: 'EUR', symbols: ['USD', 'JPY'] }).withMeta(), HORIZON);

    expect(data).toEqual({ EUR: 0.92 });
    expect(meta).toMatchObject({ status: 200, rawBody: ok.body });
    expect(meta.headers.get('content-type')).toBe('application/json');
    const [requestLine, ...headers] = server.requests[0]!.split('\r\n');
    expect(requestLine).toBe('GET /api/v1/latest?base=EUR&symbols=USD&symbols=JPY HTTP/1.1');
    const lines = headers.map((line) => line.toLowerCase());
    expect(lines).toContain(`authorization: bearer ${API_KEY}`);
    expect(lines.filter((line) => line.includes(API_KEY))).toHaveLength(1);
  });

  const faults: [string, (request: RawRequest) => unknown][] = [
    ['resets the connection', ({ socket }) => socket.resetAndDestroy()],
    [
      'resets after the headers',
      ({ socket }) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n', () => socket.resetAndDestroy()),
    ],
    [
      'wants to talk something else',
      ({ socket }) => socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ];

  test.each(faults)('a server that %s is a NetworkError', async (_, onRequest) => {
    const { error, server } = await errorFrom(onRequest);

    expect(error).toMatchObject({ kind: 'network', status: undefined, attempts: [{ status: undefined }] });
    expect(error).toMatchObject({ message: expect.stringContaining(server.url.slice('http://'.length)) });
    expect(server.requests).toHaveLength(1);
  });

  test('a port without a server is a NetworkError with the code of the system', async () => {
    const server = await startRawServer({});
    await server.close();
    const { fx, clock } = client(server);

    expect(await clock.run(errorOf(fx.latest()), HORIZON)).toMatchObject({ kind: 'network', code: 'ECONNREFUSED' });
  });

  test.each<[string, (request: RawRequest) => void]>([
    ['never responds', () => undefined],
    ['stops in the headers', ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\ncontent-')],
    ['stops in the body', ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"succ')],
  ])('a server that %s causes a timeout of the attempt, which closes the connection', async (_, onRequest) => {
    const hungUp: Promise<unknown>[] = [];
    const { fx, clock, server } = await serving(
      (request) => {
        hungUp.push(hangUp(request.socket));
        onRequest(request);
      },
      { timeoutMs: 5000 },
    );

    const ending = errorOf(fx.latest());
    await server.arrived(0);
    await quiet();
    await clock.advance(5000);

    expect(await ending).toMatchObject({ kind: 'timeout', scope: 'attempt', limitMs: 5000 });
    await Promise.all(hungUp);
    expect(await clock.left()).toBe(0);
  });

  test('an abort ends the connection', async () => {
    const hungUp: Promise<unknown>[] = [];
    const { fx, clock, server } = await serving(({ socket }) => hungUp.push(hangUp(socket)));
    const controller = new AbortController();

    const ending = errorOf(fx.latest({}, { signal: controller.signal }));
    await server.arrived(0);
    controller.abort(new Error('enough'));

    expect(await ending).toMatchObject({ kind: 'aborted', cause: new Error('enough') });
    await Promise.all(hungUp);
    expect(await clock.left()).toBe(0);
  });

  test('an abort while the connection is made sends nothing', async () => {
    const { fx, clock, server } = await serving(({ socket }) => respond(socket, ok));

    for (let ticks = 0; ticks < 60; ticks += 5) {
      const controller = new AbortController();
      const ending = errorOf(fx.latest({ ticks }, { signal: controller.signal }));
      for (let tick = 0; tick < ticks; tick += 1) await undefined;
      controller.abort();
      expect(await ending).toMatchObject({ kind: 'aborted' });
    }
    for (let turn = 0; turn < 10; turn += 1) await quiet();

    expect(server.requests).toEqual([]);
    expect(await clock.left()).toBe(0);
  });

  test.each<[string, Parameters<typeof respond>[1], object]>([
    [
      'a 503 page in another encoding',
      {
        status: 503,
        headers: { 'content-type': 'text/html; charset=latin1' },
        body: Buffer.from('R\xe9essayez', 'latin1'),
      },
      { kind: 'server', status: 503 },
    ],
    ['a 429 with a body that cannot be read', { status: 429, body: Buffer.from([0xff]) }, { kind: 'rate_limited' }],
    ['an empty body', { body: '' }, { kind: 'response', status: 200, bodyExcerpt: '' }],
    [
      'a body that is not UTF-8',
      { body: Buffer.from('{"success":true,"data":{"name":"\xe9"}}', 'latin1') },
      { kind: 'response', status: 200, summary: 'The body is not UTF-8 (HTTP 200)', attempts: [{ status: 200 }] },
    ],
  ])('%s is an error of the expected kind', async (_, response, expected) => {
    const { error } = await errorFrom(({ socket }) => respond(socket, response), { onLimit: 'throw' });

    expect(error).toMatchObject(expected);
  });

  test.each<[string, Parameters<typeof respond>[1]]>([
    ['JSON under another content type', { ...ok, headers: { 'content-type': 'text/plain' } }],
    ['JSON without a content type', { ...ok, headers: { 'content-type': '' } }],
    ['a byte order mark', { ...ok, body: `\ufeff${ok.body}` }],
    ['headers with bytes beyond ASCII', { ...ok, headers: { 'x-note': Buffer.from('Grüße →').toString('latin1') } }],
    ['headers named like parts of an object', { ...ok, headers: { constructor: 'x', __proto__: 'y', tostring: 'z' } }],
  ])('accepts %s', async (_, response) => {
    const { fx, clock } = await serving(({ socket }) => respond(socket, response));

    const { data, meta } = await clock.run(fx.latest().withMeta(), HORIZON);

    expect(data).toEqual({ EUR: 0.92 });
    expect(meta.rawBody).toBe(ok.body);
    expect(meta.headers.get('connection')).toBe('close');
  });

  test('joins the text of a body in many pieces', async () => {
    const body = JSON.stringify(success({ name: 'Česká koruna €' }).body);
    const { fx, clock } = await serving(async ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n');
      for (const byte of Buffer.from(body)) {
        socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.end('0\r\n\r\n');
    });

    await expect(clock.run(fx.latest(), HORIZON)).resolves.toEqual({ name: 'Česká koruna €' });
  });

  test.each(['102 Processing', '103 Early Hints'])('ignores %s before the response', async (status) => {
    const { fx, clock } = await serving(({ socket }) => {
      socket.write(`HTTP/1.1 ${status}\r\nlink: </x>; rel=preload\r\n\r\n`);
      respond(socket, ok);
    });

    const { data, meta } = await clock.run(fx.latest().withMeta(), HORIZON);
    expect([data, meta.headers.get('link')]).toEqual([{ EUR: 0.92 }, null]);
  });

  // undici refuses both; node:http ignores a 100.
  test.each(['100 Continue', '101 Switching Protocols'])('names an unasked %s, or ignores it', async (status) => {
    const { fx, clock } = await serving(({ socket }) => {
      socket.write(`HTTP/1.1 ${status}\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n`);
      respond(socket, ok);
    });

    const result = await clock.run(fx.latest().catch(String), HORIZON);

    const isIgnored = transport().fetch === httpFetch && status === '100 Continue';
    expect(result).toEqual(isIgnored ? { EUR: 0.92 } : expect.stringContaining(status));
  });

  test('a second response on the connection is never the response of another call', async () => {
    const first = 'HTTP/1.1 200 OK\r\ncontent-length: 28\r\n\r\n{"success":true,"data":{ }}\n';
    const forged = 'HTTP/1.1 200 OK\r\ncontent-length: 37\r\n\r\n{"success":true,"data":{"forged":1}}\n';
    const { fx, clock } = await serving(
      ({ socket, index }) => {
        if (index === 0) socket.write(first + forged);
        else respond(socket, ok);
      },
      { maxRetries: 2 },
    );

    await clock.run(
      errorOf(fx.latest({ call: 1 })).catch(() => undefined),
      HORIZON,
    );
    await expect(clock.run(fx.latest({ call: 2 }), HORIZON)).resolves.toEqual({ EUR: 0.92 });
  });

  test('aborts an endless body and closes its connection', async () => {
    const hungUp: Promise<unknown>[] = [];
    const { error } = await errorFrom(
      ({ socket }) => {
        hungUp.push(hangUp(socket));
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const pour = () => {
          while (socket.writable && socket.write('x'.repeat(1000)));
        };
        socket.on('drain', pour);
        pour();
      },
      { maxResponseBytes: 50_000 },
    );

    const message = 'The body is longer than 50000 bytes (HTTP 200); maxResponseBytes sets the limit';
    expect(error).toMatchObject({ kind: 'response', status: 200, message, attempts: [{ status: 200 }] });
    await Promise.all(hungUp);
  });

  test('accepts a body of exactly the maximum length', async () => {
    const body = ok.body.padEnd(1_000);
    const { fx, clock } = await serving(({ socket }) => respond(socket, { body }), { maxResponseBytes: 1_000 });

    await expect(clock.run(fx.latest(), HORIZON)).resolves.toEqual({ EUR: 0.92 });
  });

  test.each([300, 301, 302, 303, 307, 308])(
    'a %i is not followed, and the other host receives nothing',
    async (status) => {
      const other = await serve({ onRequest: ({ socket }) => respond(socket, ok) });

      const { error, server } = await errorFrom(({ socket }) =>
        respond(socket, { status, headers: { location: `${other.url}/api/v1/latest` } }),
      );

      expect(error).toMatchObject({
        kind: 'response',
        status,
        summary: `HTTP ${status} redirects to ${other.url}/api/v1/latest; not followed, because the client would send the key there`,
        advice: 'if the service has moved there, set baseUrl to its new URL',
      });
      expect(other.connections()).toBe(0);
      expect(server.requests).toHaveLength(1);
    },
  );
});
