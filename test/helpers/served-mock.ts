import {
  connectMockServer,
  createMockServer,
  type MockServerOptions,
  type ServeOptions,
} from '../../src/mock-server/index.ts';

/** A mock that is served, a connection to it as from another process, and functions that send requests to it. */
export async function servedMock(options: MockServerOptions = {}, serving: ServeOptions = {}) {
  const mock = createMockServer({ clock: 'virtual', ...options });
  const server = await mock.serve(serving);
  /** Calls the admin API. A text is sent as it is. */
  const admin = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${server.url}/__fxrates${path}`, {
      method,
      headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text === '' ? undefined : JSON.parse(text) };
  };
  /** Calls the emulated API. */
  const call = (key: string, path = '/api/v1/latest') =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } });
  return {
    ...{ mock, server, admin, call },
    remote: connectMockServer(server.adminUrl),
    [Symbol.asyncDispose]: () => mock.close(),
  };
}
