/**
 * Run as a program on a runtime, opens connections, lets the server abandon them, and makes a call. Prints its attempts and
 * data, or its error. Argument: the URL of the server.
 */
import { FxRates } from '../../../src/client/index.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

const [url = ''] = process.argv.slice(2);
const fx = new FxRates({
  baseUrl: url,
  apiKey: API_KEY,
  timeoutMs: 1_500,
  maxRetries: 2,
  rateLimit: { perMinute: 1_000 },
});
await Promise.all(Array.from({ length: 8 }, (_, call) => fx.latest({ call })));
await fetch(`${url}/abandon`);
const ended = await fx
  .latest()
  .withMeta()
  .then(
    ({ data, meta }) => ({ data, attempts: meta.attempts.length }),
    (error: unknown) => ({ error: String(error) }),
  );
process.stdout.write(`${JSON.stringify(ended)}\n`);
process.exit(0);
