import type { Server } from 'node:http';
import { invalidOption, MockServerError } from '../mock-server-error.ts';
import type { ListenOptions } from './node-server.ts';

/** Lets the server listen where the options say, if that is allowed and free. */
export async function listen(server: Server, options: ListenOptions): Promise<void> {
  const { port = 0, host = '127.0.0.1', allowRemote = false, ...unknown } = options;
  for (const [name, value] of Object.entries(unknown))
    throw invalidOption(name, value, 'port, host, allowRemote or state');
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw invalidOption('port', port, 'a whole number from 0, any free port, to 65535');
  }
  if (!allowRemote && !LOOPBACK.test(host)) {
    throw invalidOption('host', host, 'a loopback address such as 127.0.0.1; allowRemote: true takes others');
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(readable(error, host, port)));
    server.listen({ port, host }, () => resolve());
  });
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/;

function readable(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new MockServerError(`Port ${port} of ${host} is in use; port 0 takes a free one.`, {
    code: 'port_in_use',
    cause: error,
  });
}
