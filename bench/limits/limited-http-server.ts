import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations } from '../../src/generated/operations.ts';
import { LimitedServer, type ServerOptions, type SimulatedResponse } from '../../test/helpers/limits-server.ts';
import { quotaRecord, success } from '../../test/helpers/service-replies.ts';

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

/**
 * The simulated service of the tests on a real socket: one key, one limit, Retry-After in whole seconds. Its `quota`, which
 * counts like any request, names the limit, as that of the documented service does.
 */
export async function startLimitedServer(now: () => number): Promise<LimitedHttpServer> {
  let service: LimitedServer | undefined;
  let quotaBody = '';
  const server = createServer((request, response) => {
    request.resume();
    if (service === undefined) throw new Error('A request came before the start');
    const isQuota = request.url?.startsWith(operations.quota.path);
    write(response, service.receive(now()), isQuota ? quotaBody : SERVED);
  });
  // The bench does not measure reconnects, so the server never closes an idle connection.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open(options) {
      service = new LimitedServer(options);
      const perMinute = Math.min(options.limit, 1_000_000); // JSON has no infinity
      quotaBody = JSON.stringify(success(quotaRecord({ rate_limit_per_minute: perMinute })).body);
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

function write(response: ServerResponse, { status, date, retryAfter }: SimulatedResponse, served: string): void {
  const headers = { date, 'content-type': 'application/json' };
  response.writeHead(status, retryAfter === undefined ? headers : { ...headers, 'retry-after': retryAfter });
  response.end(status === 200 ? served : REFUSED);
}
