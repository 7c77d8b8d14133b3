import { randomBytes } from 'node:crypto';
import { type ListeningServer, type ListenOptions, listenHttp } from './adapters/node-server.ts';
import { createAdmin } from './admin/admin.ts';
import { ADMIN_ROOT } from './admin/route.ts';
import type { HandleRequest } from './handle-request.ts';
import type { MockParts } from './mock-parts.ts';
import type { MockScope } from './mock-scope.ts';
import { invalidOption } from './mock-server-error.ts';
import type { Spaces } from './spaces.ts';
import { StatePersister } from './state/state-persister.ts';

/** A mock that listens on a port, with what belongs to it alone. */
export interface RunningServer extends ListeningServer {
  /** The control panel. The fragment holds the admin token: browsers do not send it. */
  readonly adminUrl: string;
  /** The emulated dashboard. */
  readonly dashboardUrl: string;
  /** For `Authorization: Bearer` of the admin API; a new one with every server. */
  readonly adminToken: string;
}

export interface ServeOptions extends ListenOptions {
  /**
   * A file to keep the state in: read before the server listens, if it is there, and written soon after each request
   * and when the server is closed. For one server at a time: `<file>.lock` shows
   * that it is in use. Default: none.
   */
  readonly state?: string | undefined;
  /** The admin token, if other processes must know it beforehand. From 16 letters, digits, `_` and `-`. Default: random. */
  readonly adminToken?: string | undefined;
}

interface Serving {
  readonly mock: MockScope;
  readonly parts: MockParts;
  readonly spaces: Spaces;
  readonly handleRequest: HandleRequest;
  readonly onClose: () => void;
}

/** A mock on a port, with its pages and its admin API; with its state in a file, if `options.state` names one. */
export async function startServer(options: ServeOptions, serving: Serving): Promise<RunningServer> {
  const { state, adminToken = randomBytes(32).toString('base64url'), ...address } = options;
  checkToken(adminToken);
  const { mock, parts, spaces, handleRequest, onClose } = serving;
  const { clock, journal, sockets, adapters } = parts;
  const { host, allowRemote } = address;
  const admin = createAdmin({ target: { mock, journal, spaces }, token: adminToken, host, allowRemote });
  const kept = state === undefined ? undefined : await StatePersister.open(checkedPath(state), mock, clock);
  const onAnswered = kept === undefined ? undefined : () => kept.noteChange();
  const server = await listenHttp(address, { handleRequest, now: () => clock.now(), admin, onAnswered }).catch(
    async (error: unknown) => {
      await kept?.abandon();
      throw error;
    },
  );
  await begin(kept, server);
  const ends = [sockets.expect(), adapters.open('socket'), onClose];
  const end = async () => {
    await server.close();
    for (const endOne of ends) endOne();
    await kept?.close();
  };
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= end();
    return closed;
  };
  const adminUrl = `${server.url}${ADMIN_ROOT}/#token=${adminToken}`;
  const pages = { adminUrl, adminToken, dashboardUrl: `${server.url}/dashboard` };
  return { ...server, ...pages, close, [Symbol.asyncDispose]: close };
}

async function begin(kept: StatePersister | undefined, server: ListeningServer): Promise<void> {
  try {
    await kept?.begin();
  } catch (error) {
    await kept?.abandon();
    await server.close();
    throw error;
  }
}

function checkToken(token: unknown): void {
  if (typeof token === 'string' && /^[\w-]{16,128}$/.test(token)) return;
  // Not shown: it may be right but for one character.
  throw invalidOption('adminToken', '…', '16 to 128 letters, digits, _ and -');
}

function checkedPath(path: unknown): string {
  if (typeof path === 'string' && path !== '') return path;
  throw invalidOption('state', path, 'the path of a file');
}
