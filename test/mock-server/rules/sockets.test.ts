import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { Agent, request } from 'undici';
import { expect, test, vi } from 'vitest';
import type { Failure } from '../../../src/mock-server/index.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';

/** Every byte received over a separate connection, and how the connection ended. */
async function rawResponse(
  port: number,
  key: string,
  method = 'GET',
): Promise<{ head: string; body: string; ending: string }> {
  return await new Promise((resolve) => {
    let text = '';
    let ending = 'closed';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        `${method} /api/v1/latest HTTP/1.1\r\nhost: mock\r\nauthorization: ${key}\r\nconnection: close\r\n\r\n`,
      ),
    );
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      ending = code ?? '';
    });
    socket.on('close', () => {
      const [head = '', ...body] = text.split('\r\n\r\n');
      resolve({ head, body: body.join('\r\n\r\n'), ending });
    });
  });
}

async function serving() {
  const { mock, id, key } = mockWithKey({ clock: 'virtual', plan: 'developer' });
  const server = await mock.serve();
  return { mock, id, key, ...server, [Symbol.asyncDispose]: () => mock.close() };
}

test.each<[Failure, number, string]>([
  [{ kind: 'reset' }, 0, 'ECONNRESET'],
  [{ kind: 'reset', afterBytes: 0 }, 0, 'ECONNRESET'],
  [{ kind: 'reset', afterBytes: 37 }, 37, 'ECONNRESET'],
  [{ kind: 'truncate', afterBytes: 0 }, 0, 'closed'],
  [{ kind: 'truncate', afterBytes: 1 }, 1, 'closed'],
  [{ kind: 'truncate', afterBytes: 1000 }, 1000, 'closed'],
])('with %j, exactly so many bytes of the body are sent: %i', async (fail, bytes, ending) => {
  await using it = await serving();
  it.mock.rules.add({ fail });

  const response = await rawResponse(it.port, it.key);

  expect([response.body.length, response.ending]).toEqual([bytes, ending]);
  const promised = Number(/content-length: (\d+)/.exec(response.head)?.[1] ?? 0);
  expect(promised > bytes).toBe('afterBytes' in fail);
});

test.each<[Failure, string]>([
  [{ kind: 'reset', afterBytes: 5 }, 'ECONNRESET'],
  [{ kind: 'truncate', afterBytes: 5 }, 'closed'],
])('with %j, a response without a body is not sent', async (fail, ending) => {
  await using it = await serving();
  it.mock.rules.add({ respond: { status: 204 } });
  it.mock.rules.add({ fail });

  expect(await rawResponse(it.port, it.key)).toEqual({ head: '', body: '', ending });
  expect(it.mock.journal.list()).toMatchObject([{ status: 0, rules: ['rule_1', 'rule_2'] }]);
});

const IN_BODY: readonly Failure[] = [
  { kind: 'bad-json' },
  { kind: 'malformed-chunk', afterBytes: 3 },
  { kind: 'dribble', intervalMs: 1 },
];

test.each((['HEAD', 204, 304] as const).flatMap((of) => IN_BODY.map((fail) => [of, fail.kind, fail] as const)))(
  'the response to %s has no body with %s',
  async (of, _, fail) => {
    await using it = await serving();
    if (of !== 'HEAD') it.mock.rules.add({ respond: { status: of } });
    it.mock.rules.add({ fail });

    const { head, body, ending } = await rawResponse(it.port, it.key, of === 'HEAD' ? of : 'GET');

    expect(head).toContain(`HTTP/1.1 ${of === 'HEAD' ? 200 : of} `);
    expect(head).not.toMatch(/transfer-encoding/i);
    expect([body, ending]).toEqual(['', 'closed']);
  },
);

test('a cut that is longer than the body omits the last byte', async () => {
  await using it = await serving();
  it.mock.rules.add({ respond: { body: 'x'.repeat(100) }, fail: { kind: 'truncate', afterBytes: 180 } });

  expect((await rawResponse(it.port, it.key)).body).toBe('x'.repeat(99));
});

test.each<[Failure, string | undefined]>([
  [{ kind: 'truncate', afterBytes: 12 }, undefined],
  [{ kind: 'bad-json' }, 'Z_BUF_ERROR'],
])('a compressed body with %j is cut or damaged', async (fail, code) => {
  await using it = await serving();
  it.mock.rules.add({ encoding: 'gzip', fail });
  const { headers, body } = await request(`${it.url}/api/v1/latest`, { headers: { authorization: it.key } });
  expect(headers['content-encoding']).toBe('gzip');
  const bytes = await body.bytes().catch((error: Error) => error.name);

  if (code === undefined) expect(bytes).toBe('SocketError');
  else expect(() => gunzipSync(bytes as Uint8Array)).toThrow(expect.objectContaining({ code }));
});

test('sends the given number of bytes before a malformed chunk', async () => {
  await using it = await serving();
  it.mock.rules.add({ fail: { kind: 'malformed-chunk', afterBytes: 9 } });

  const { head, body } = await rawResponse(it.port, it.key);

  expect(head).toMatch(/transfer-encoding: chunked/i);
  expect(body).toBe('9\r\n{"success\r\nthis is no chunk size\r\n');
  const { responseHeaders } = it.mock.journal.list()[0]!;
  expect(responseHeaders).toMatchObject({ 'transfer-encoding': 'chunked' });
  expect(responseHeaders).not.toHaveProperty('content-length');
});

test('cookies of a request are one text, in which keys are masked', async () => {
  await using it = await serving();

  await request(`${it.url}/api/v1/quota`, { headers: { 'set-cookie': ['a=1', `b=${it.key}`] } });

  expect(it.mock.journal.list()[0]?.headers['set-cookie']).toBe('a=1, b=fx_live_…');
});

test('reuses a connection after a delay and a dribble, in the order of the requests', async () => {
  await using it = await serving();
  it.mock.rules.add({ nth: 1, delayMs: 5000 });
  it.mock.rules.add({ nth: 2, fail: { kind: 'dribble', chunkBytes: 50, intervalMs: 10 } });
  const dispatcher = new Agent({ connections: 1, pipelining: 4 });
  const send = async () => {
    const response = await request(`${it.url}/api/v1/quota`, { dispatcher, headers: { authorization: it.key } });
    return JSON.parse(await response.body.text()).success;
  };

  expect(await Promise.all([send(), send(), send(), send()])).toEqual([true, true, true, true]);
  await dispatcher.close();
});

test('pieces without an interval stop neither the process nor the notice of a disconnect', async () => {
  await using it = await serving();
  const body = 'x'.repeat(50_000);
  it.mock.rules.add({ nth: 1, respond: { body }, fail: { kind: 'dribble', chunkBytes: 1, intervalMs: 0 } });
  const socket = connect(it.port, '127.0.0.1', () =>
    socket.write(`GET /api/v1/latest HTTP/1.1\r\nhost: mock\r\nauthorization: ${it.key}\r\n\r\n`),
  );
  await once(socket, 'data');

  socket.destroy();
  const other = await fetch(`${it.url}/api/v1/quota`);

  expect(other.status).toBe(401);
  expect(it.mock.journal.list()[0]?.why).toMatch(/the client disconnected before the end of the body$/);
});

test('many simultaneous waits cause no leak warning', async () => {
  await using it = await serving();
  it.mock.rules.add({ delayMs: 1000 });
  const warnings = vi.spyOn(process, 'emitWarning');

  await Promise.all(
    Array.from({ length: 20 }, () => fetch(`${it.url}/api/v1/quota`).then((response) => response.text())),
  );

  expect(warnings).not.toHaveBeenCalled();
});
