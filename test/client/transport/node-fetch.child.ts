/**
 * Run as a program, uses the client before anything else uses the network, then Node's own `fetch`. Prints what happened
 * as one line of JSON. Arguments: the URL of the server, and `dispatcher` to set a global dispatcher in between.
 */
import { FxRates } from '../../../src/client/index.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

const [url = '', between] = process.argv.slice(2);
const globals = globalThis as unknown as Record<symbol, { dispatch: (...parameters: unknown[]) => boolean }>;
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

const fx = new FxRates({ baseUrl: url, apiKey: API_KEY, maxRetries: 0 });
const loaded = globals[GLOBAL_DISPATCHER] === undefined;
await fx.latest();
const through: unknown[] = [];
const dispatcher = globals[GLOBAL_DISPATCHER]!;
if (between === 'dispatcher') {
  const dispatch = (...parameters: unknown[]) => {
    through.push((parameters[0] as { readonly path: unknown }).path);
    return dispatcher.dispatch(...parameters);
  };
  Object.defineProperty(globalThis, GLOBAL_DISPATCHER, { value: { dispatch } });
}
const { status } = await fetch(`${url}/post`, { method: 'POST', body: 'text', headers: { 'content-length': '4' } });
await fx.latest({ later: 1 });
process.stdout.write(`${JSON.stringify({ loaded, status, through })}\n`);
process.exit(0);
