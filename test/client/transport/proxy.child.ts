/**
 * Calls the service at its first argument in a process of its own, through the proxy of the environment if it names one.
 * Node reads NODE_EXTRA_CA_CERTS once, at its start.
 */
import { FxRates } from '../../../src/client/index.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

const [baseUrl] = process.argv.slice(2);
const fx = new FxRates({ baseUrl, apiKey: API_KEY, proxy: 'env', maxRetries: 0 });
const rates = await fx.latest({ n: 1 });
await fx.withOptions({ timeoutMs: 5_000 }).latest({ n: 2 });

process.stdout.write(JSON.stringify(rates));
