import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LimitedServer, type ServerOptions, type SimulatedResponse } from '../../test/helpers/limits-server.ts';

/** Slack's client reads `ok`; the service sends `success`. */
const SERVED = JSON.stringify({ success: true, ok: true, data: { base: 'EUR', rates: { USD: '1.0842' } } });

/** Without GitHub's headers, Octokit's plugin recognises a limit only by the words "secondary rate". */
const REFUSED = JSON.stringify({
  success: false,
  error: { code: 'rate_limited', message: 'You have exceeded a secondary rate limit.', status: 429 },
});

export interface LimitedHttpServer extends AsyncDisposable {
  readonly origin: string;
  /** Resets the count and starts to serve. */
  open(options: ServerOptions): void;
  readonly refused: number;
}

/** The simulated service of the tests on a real socket: one key, one limit, Retry-After in whole seconds. */
export async function startLimitedServer(now: () => number): Promise<LimitedHttpServer> {
  let service: LimitedServer | undefined;
  const server = createServer((request, response) => {
    request.resume();
    if (service === undefined) throw new Error('A request came before the start');
    write(response, service.receive(now()));
  });
  // The bench does not measure reconnects, so the server never closes an idle connection.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open(options) {
      service = new LimitedServer(options);
    },
    get refused() {
      return service?.refused ?? 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function write(response: ServerResponse, { status, date, retryAfter }: SimulatedResponse): void {
  const headers = { date, 'content-type': 'application/json' };
  response.writeHead(status, retryAfter === undefined ? headers : { ...headers, 'retry-after': retryAfter });
  response.end(status === 200 ? SERVED : REFUSED);
}
