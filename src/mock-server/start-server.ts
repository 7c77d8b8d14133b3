import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { type ListeningServer, listenHttp, listenOptions } from './adapters/node-server.ts';
import { createAdmin } from './admin/admin.ts';
import { ADMIN_ROOT } from './admin/own-pages.ts';
import { createHandler } from './handle.ts';
import { checkedInput, expected } from './matching/checked-input.ts';
import type { MockCore } from './mock-core.ts';
import { invalidOption } from './mock-server-error.ts';
import { StatePersister } from './state/state-file.ts';

/** A mock that listens on a port. */
export interface RunningServer extends ListeningServer {
  /** URL of the control panel. The fragment contains the admin token; browsers do not send fragments. */
  readonly adminUrl: string;
  /** Bearer token of the admin API. */
  readonly adminToken: string;
}

const serveOptions = listenOptions.extend({
  /**
   * Path of a file that keeps the state. If the file exists, the server restores its state before it listens. The server
   * writes the file shortly after each request and when it closes. `<file>.lock` prevents a second server from using it.
   * @default no file
   * @example './mock-state.json'
   */
  state: expected('the path of a file', z.string().min(1)).optional(),
  /**
   * The admin token, if other processes must know it in advance: 16 to 128 letters, digits, `_` and `-`.
   * @default a random token
   */
  adminToken: z.custom<string>().optional(), // its error does not show it
});

/** Options of `mock.serve()`. All are optional. */
export type ServeOptions = Readonly<z.input<typeof serveOptions>>;

/** Serves a mock with its pages and its admin API. Writes its state to the file `options.state`, if set. */
export async function startServer(options: ServeOptions, mock: MockCore, onClose: () => void): Promise<RunningServer> {
  const checked = checkedInput(serveOptions, options, { what: 'an option of serve()' });
  const { state, adminToken = randomBytes(32).toString('base64url'), ...address } = checked;
  checkToken(adminToken);
  const { clock, adapters } = mock;
  const { host, allowRemote, tls } = address;
  const names = { host, allowRemote, scheme: tls === undefined ? 'http' : 'https' } as const;
  const admin = createAdmin({ mock, token: adminToken, ...names });
  const persister = state === undefined ? undefined : await StatePersister.open(state, mock);
  const onResponded = persister === undefined ? undefined : () => persister.noteChange();
  const server = await listenHttp(address, {
    handleRequest: createHandler(mock),
    now: () => clock.now(),
    admin,
    onResponded,
  }).catch(async (error: unknown) => {
    await persister?.abandon();
    throw error;
  });
  const ends = [adapters.open('socket'), onClose];
  const end = async () => {
    await server.close();
    for (const endOne of ends) endOne();
    await persister?.close();
  };
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= end();
    return closed;
  };
  const adminUrl = `${server.url}${ADMIN_ROOT}/#token=${adminToken}`;
  return { ...server, adminUrl, adminToken, close, [Symbol.asyncDispose]: close };
}

function checkToken(token: unknown): void {
  if (typeof token === 'string' && /^[\w-]{16,128}$/.test(token)) return;
  // Not shown, because it may differ from the right token by one character.
  throw invalidOption('adminToken', '…', '16 to 128 letters, digits, _ and -');
}
