import { invalidOption, MockServerError } from '../mock-server-error.ts';
import type { Space, SpaceOptions } from '../spaces.ts';
import { adminUrl, createAsk } from './admin-client.ts';
import { createRemoteScope, type RemoteScope } from './remote-scope.ts';

/** A mock server that runs in another process, driven as if it were here. */
export interface RemoteMockServer extends RemoteScope {
  /** An account and its key for one test, isolated from all others; as `mock.space`. */
  space(options?: SpaceOptions): Promise<RemoteSpace>;
  /** Ends all spaces, also those of other processes: for a suite that begins after one that was killed. */
  closeSpaces(): Promise<void>;
}

/** A space of a mock server of another process. */
export type RemoteSpace = RemoteScope & Pick<Space, 'name' | 'key' | 'keyId' | 'accountId' | 'close'> & AsyncDisposable;

/**
 * Drives a mock server of another process: `connectMockServer(adminUrl)`, or `connectMockServer(url, token)`.
 * Its methods reject with the `MockServerError` that the mock itself would throw.
 */
export function connectMockServer(url: string, token = tokenIn(url)): RemoteMockServer {
  if (!URL.canParse(url)) throw invalidOption('url', url, 'the URL that the mock server shows when it starts');
  if (token === undefined || token === '') {
    throw new MockServerError('token is missing; it is in the adminUrl that the mock server shows when it starts.', {
      code: 'invalid_option',
    });
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
