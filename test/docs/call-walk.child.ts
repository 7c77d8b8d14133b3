/** Prints the files below src/ that one `latest()` of a client in use enters, as JSON. Shared files have no folder. */
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { FxRates } from '../../src/client/index.ts';
import { listen } from '../helpers/listen.ts';

const WARM_UP = 20;

const body = JSON.stringify({ success: true, data: { base: 'EUR', rates: { USD: 1.1 } } });
const service = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
});
const port = await listen(service);
/** Time stands still: once a second, a call also reports that calls arrive. */
const now = Date.now();
const clock = { now: () => now, sleep: () => new Promise<void>(() => undefined) };
const fx = new FxRates({ baseUrl: `http://127.0.0.1:${port}`, apiKey: `fx_live_${'a'.repeat(48)}`, clock });

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
for (let number = 0; number < WARM_UP; number += 1) await fx.latest({ base: 'EUR', number });
await session.post('Profiler.takePreciseCoverage'); // resets the counts
await fx.latest({ base: 'EUR', number: WARM_UP });
await new Promise((resolve) => setImmediate(resolve));
const { result } = await session.post('Profiler.takePreciseCoverage');

const entered = result.flatMap(({ url, functions }) => {
  const [, file] = /\/src\/([^?]+)/.exec(url) ?? [];
  return file !== undefined && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)) ? [file] : [];
});
process.stdout.write(JSON.stringify(entered.sort()));
process.exit(0);
