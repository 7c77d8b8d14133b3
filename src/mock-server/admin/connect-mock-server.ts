import { invalidOption, MockServerError } from '../mock-server-error.ts';
import type { Space, SpaceOptions } from '../spaces.ts';
import { adminUrl, createAsk } from './admin-client.ts';
import { createRemoteScope, type RemoteScope } from './remote-scope.ts';

/** A mock server in another process. Has the methods of a mock, as promises. */
export interface RemoteMockServer extends RemoteScope {
  /** Opens a space, as `mock.space`. */
  space(options?: SpaceOptions): Promise<RemoteSpace>;
  /** Closes all spaces, including those of other processes, for example of a killed test run. */
  closeSpaces(): Promise<void>;
}

/** A space of a mock server in another process. */
export type RemoteSpace = RemoteScope & Pick<Space, 'name' | 'key' | 'keyId' | 'accountId' | 'close'> & AsyncDisposable;

/**
 * Connects to a mock server in another process, by its `adminUrl`, or by its URL and the admin token. The methods reject
 * with the same `MockServerError` that the mock throws.
 * @example const remote = connectMockServer(process.env.FXRATES_MOCK_ADMIN_URL)
 */
export function connectMockServer(url: string, token = tokenIn(url)): RemoteMockServer {
  if (!URL.canParse(url)) throw invalidOption('url', url, 'the adminUrl that the mock server prints when it starts');
  if (token === undefined || token === '') {
    throw new MockServerError(
      'token is missing; pass the adminUrl that the mock server prints when it starts, or the admin token.',
      {
        code: 'invalid_option',
      },
    );
  }
  const { origin } = new URL(url);
  const ask = createAsk(adminUrl(origin), token);
  return {
    ...createRemoteScope(ask, origin),
    async space(options = {}) {
      const opened = await ask('POST /spaces', { body: options });
      const close = () => ask('DELETE /spaces/{space}', { path: { space: opened.name } });
      const scope = createRemoteScope(createAsk(adminUrl(origin, opened.name), token), origin);
      return { ...scope, ...opened, close, [Symbol.asyncDispose]: close };
    },
    async closeSpaces() {
      const spaces = await ask('GET /spaces');
      await Promise.all(spaces.map(({ name }) => ask('DELETE /spaces/{space}', { path: { space: name } })));
    },
  };
}

function tokenIn(url: string): string | undefined {
  return /#token=([\w-]+)$/.exec(url)?.[1];
}
