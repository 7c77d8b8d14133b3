import { invalidOption, MockServerError } from '../mock-server-error.ts';
import type { Space, SpaceOptions } from '../spaces.ts';
import { type AskAdmin, createAsk } from './admin-client.ts';
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
  const ask = createAsk(origin, token);
  return {
    ...createRemoteScope(ask, origin),
    async space(options = {}) {
      const opened = (await ask('POST', '/spaces', { body: wireOptions(options) })) as OpenedSpace;
      return remoteSpace(ask, origin, opened);
    },
    async closeSpaces() {
      const spaces = (await ask('GET', '/spaces')) as { readonly name: string }[];
      await Promise.all(spaces.map(({ name }) => ask('DELETE', spacePath(name))));
    },
  };
}

function tokenIn(url: string): string | undefined {
  return /#token=([\w-]+)$/.exec(url)?.[1];
}

type OpenedSpace = Pick<Space, 'name' | 'key' | 'keyId' | 'accountId'>;

function remoteSpace(ask: AskAdmin, origin: string, opened: OpenedSpace): RemoteSpace {
  const root = spacePath(opened.name);
  const close = async () => void (await ask('DELETE', root));
  const scope = createRemoteScope((method, path, options) => ask(method, root + path, options), origin);
  return { ...scope, ...opened, close, [Symbol.asyncDispose]: close };
}

function spacePath(name: string): string {
  return `/spaces/${encodeURIComponent(name)}`;
}

/** JSON has no dates. */
function wireOptions({ clock, behaviour, ...options }: SpaceOptions) {
  const isMoment = typeof clock === 'object' && clock.now !== undefined;
  return {
    ...options,
    clock: isMoment ? { ...clock, now: new Date(clock.now ?? 0).toISOString() } : clock,
    behaviour: typeof behaviour === 'string' ? { preset: behaviour } : behaviour,
  };
}
