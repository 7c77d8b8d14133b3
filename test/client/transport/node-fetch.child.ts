/**
 * Run as a program, uses the client before anything else uses the network, then Node's own `fetch`, without and with a
 * global dispatcher of the program. Prints what happened as one line of JSON. Argument: the URL of the server.
 */
import { FxRates } from '../../../src/client/index.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

const [url = ''] = process.argv.slice(2);
const globals = globalThis as unknown as Record<symbol, { dispatch: (...parameters: unknown[]) => boolean }>;
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

const fx = new FxRates({ baseUrl: url, apiKey: API_KEY, maxRetries: 0 });
const post = async () =>
  (await fetch(`${url}/post`, { method: 'POST', body: 'text', headers: { 'content-length': '4' } })).status;
const isLate = globals[GLOBAL_DISPATCHER] === undefined;
await fx.latest();
const statuses = [await post()];
const through: unknown[] = [];
const dispatcher = globals[GLOBAL_DISPATCHER]!;
const dispatch = (...parameters: unknown[]) => {
  through.push((parameters[0] as { readonly path: unknown }).path);
  return dispatcher.dispatch(...parameters);
};
Object.defineProperty(globalThis, GLOBAL_DISPATCHER, { value: { dispatch } });
statuses.push(await post());
await fx.latest({ later: 1 });
process.stdout.write(`${JSON.stringify({ isLate, statuses, through })}\n`);
process.exit(0);
