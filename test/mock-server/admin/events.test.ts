import { expect, test } from 'vitest';
import { streamEvents } from '../../../src/mock-server/admin/routes/journal-routes.ts';
import { createMockServer, type JournalEntry, type RunningServer } from '../../../src/mock-server/index.ts';

/** Reads server-sent events as they arrive. */
async function listen({ url, adminToken }: RunningServer, query = '', more: Readonly<Record<string, string>> = {}) {
  const end = new AbortController();
  const response = await fetch(`${url}/__fxrates/events${query}`, {
    headers: { authorization: `Bearer ${adminToken}`, ...more },
    signal: end.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const next = async (): Promise<JournalEntry> => {
    while (!text.includes('\n\n')) {
      const { value, done } = await reader.read();
      if (done) throw new Error('The stream has ended.');
      text += value;
    }
    const [event = ''] = text.split('\n\n', 1);
    text = text.slice(event.length + 2);
    return JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '');
  };
  return { response, next, end: () => end.abort() };
}

test('streams every request with the reason for its response', async () => {
  await using mock = createMockServer({ clock: 'virtual' });
  const server = await mock.serve();
  const { key } = mock.createKey();
  const events = await listen(server);
  expect(events.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');

  for (let call = 0; call < 31; call += 1) {
    await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: key } });
  }

  const told: JournalEntry[] = [];
  while (told.length < 31) told.push(await events.next());
  expect(told).toEqual(JSON.parse(JSON.stringify(mock.journal.list())));
  expect(told.at(-1)).toMatchObject({ number: 31, status: 429, why: expect.stringContaining('30 of 30 requests') });
  expect(JSON.stringify(told)).not.toContain(key);
  events.end();
});

test.each([
  ['', '2', 3],
  ['?after=1', '2', 2],
  ['', '9', 1], // a number from before clear()
])('a browser that reconnects to /events%s with Last-Event-ID %s receives the requests from %d on', async (...row) => {
  const [query, id, first] = row;
  await using mock = createMockServer();
  const server = await mock.serve();
  for (let call = 0; call < 3; call += 1) await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  const events = await listen(server, query, { 'last-event-id': id });

  expect((await events.next()).number).toBe(first);
});

test('streams only the requests that match the filter, also those of the journal', async () => {
  await using mock = createMockServer();
  const server = await mock.serve();
  const send = (path: string) => mock.fetch(`${mock.baseUrl}${path}`, { headers: { authorization: key } });
  const { key } = mock.createKey();
  for (const path of ['/api/v1/quota', '/api/v1/lates']) await send(path);

  const unknown = await listen(server, '?isUnknownRoute=true&after=0');
  const served = await listen(server, '?operation=quota&status=200&keyId=key_1');
  for (const path of ['/api/v1/latest', '/nowhere', '/api/v1/quota']) await send(path);

  expect([(await unknown.next()).path, (await unknown.next()).path]).toEqual(['/api/v1/lates', '/nowhere']);
  expect((await served.next()).number).toBe(5);
});

test.each([
  ['operatoin=quota', 'invalid_option', 'operatoin is not a field of the query; did you mean operation?'],
  ['isUnknownRoute=yes', 'invalid_option', 'isUnknownRoute is "yes"; expected one of true, false.'],
  ['after=99', 'invalid_option', 'filter.after is 99'],
  ['keyId=key_9', 'invalid_option', 'filter.keyId is "key_9"; expected the id of a key of this mock'],
])('a stream with ?%s is refused', async (query, code, message) => {
  await using mock = createMockServer();
  const { url, adminToken } = await mock.serve();

  const response = await fetch(`${url}/__fxrates/events?${query}`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });

  expect(response.status).toBe(400);
  expect((await response.json()) as object).toMatchObject({
    error: { code, message: expect.stringContaining(message) },
  });
});

test('a Last-Event-ID that is not a number is ignored', async () => {
  await using mock = createMockServer();
  const server = await mock.serve();
  await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  const events = await listen(server, '', { 'last-event-id': 'x' });
  await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect((await events.next()).number).toBe(2);
});

test('the stream of a space ends when the space is closed, and a new one can follow the next space', async () => {
  await using mock = createMockServer();
  const { url, adminToken } = await mock.serve();
  const headers = { authorization: `Bearer ${adminToken}` };
  const read = () => fetch(`${url}/__fxrates/spaces/one/events?after=0`, { headers });
  const space = mock.space({ name: 'one' });
  const first = await read();

  await space.close();

  expect(await first.text()).toBe('');
  mock.space({ name: 'one' });
  await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: space.key } });
  const reader = (await read()).body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toMatch(/^id: 1\nevent: request/);
  await reader.cancel();
});

/** Calls the route with a journal that counts its listeners. */
function stream(method: string) {
  const state = { listeners: 0, hasEnded: false, written: '', beatMs: 0 };
  const disconnected = new AbortController();
  const subscribe = () => {
    state.listeners += 1;
    return () => {
      state.listeners -= 1;
    };
  };
  const end = () => {
    state.hasEnded = true;
  };
  const write = (text: string) => {
    state.written += text;
  };
  /** As if the interval had passed once. */
  const every = (ms: number, beat: () => void) => {
    state.beatMs = ms;
    beat();
    return () => {
      state.beatMs = 0;
    };
  };
  const nothing = () => undefined;
  const outgoing = { req: { method, headers: {} }, writeHead: nothing, flushHeaders: nothing, write, end };
  const core = { journal: { entries: [], subscribe }, state: { keys: new Map() }, spaces: new Map() };
  const call = { core, query: {}, signal: disconnected.signal, outgoing };
  streamEvents(call as unknown as Parameters<typeof streamEvents>[0], every);
  return { state, disconnect: () => disconnected.abort() };
}

test('listens to the journal and shows every 15 s that it is alive, until the client disconnects', () => {
  const { state, disconnect } = stream('GET');
  expect(state).toMatchObject({ listeners: 1, hasEnded: false, written: ':\n\n', beatMs: 15_000 });

  disconnect();

  expect(state).toMatchObject({ listeners: 0, beatMs: 0 });
});

test('ends the response to HEAD, so that the connection can be used again', () => {
  expect(stream('HEAD').state).toMatchObject({ listeners: 0, hasEnded: true });
});

test('does not prevent a server from closing', async () => {
  const mock = createMockServer();
  const server = await mock.serve();
  const events = await listen(server);
  await mock.close();
  await expect(events.next()).rejects.toThrow('The stream has ended.');
});

test('at most a hundred streams are open at once', async () => {
  await using mock = createMockServer();
  const server = await mock.serve();
  const open = await Promise.all(Array.from({ length: 100 }, () => listen(server)));

  const refused = await fetch(`${server.url}/__fxrates/events`, {
    headers: { authorization: `Bearer ${server.adminToken}` },
  });
  for (const { end } of open) end();

  expect(open.map(({ response }) => response.status)).toEqual(new Array(100).fill(200));
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ error: { code: 'too_many_streams' } });
});
