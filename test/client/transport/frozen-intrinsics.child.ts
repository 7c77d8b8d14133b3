/**
 * Run as a program, uses the client in a process whose built-in objects are frozen. Prints the results as one line of JSON.
 * Argument: the URL of a server.
 */
import { FxRates, type FxRatesError } from '../../../src/client/index.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

const [url = ''] = process.argv.slice(2);
const fx = new FxRates({ baseUrl: url, apiKey: API_KEY, maxRetries: 0, cache: { maxAgeMs: 60_000 } });

const shownError = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error: FxRatesError) => `${error.name} ${error.code}`,
  );

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}

const results: Record<string, unknown> = { latest: await fx.latest({ toString: 'EUR' }) };
const batch: unknown[] = [];
for await (const { value, error } of fx.batch([{ base: 'EUR' }, { base: 'USD' }])) batch.push(value ?? error.message);
results['batch'] = batch;
results['batch that is left'] = (await firstOf(fx.batch([{}])))?.value;
results['poll'] = await firstOf(fx.poll({}, { every: 60_000 }));
results['refused'] = await shownError(fx.latest({ refuse: 'true' }));
const aborted = AbortSignal.abort();
results['aborted'] = await shownError(fx.latest({}, { signal: aborted }));

const mock = createMockServer();
const onMock = new FxRates({ ...mock.clientOptions(), apiKey: mock.createKey().key, maxRetries: 0 });
results['mock'] = typeof (await onMock.quota()).plan;
mock.rules.add({ fail: { kind: 'reset' } });
results['reset'] = await shownError(onMock.latest());
mock.rules.add({ fail: { kind: 'truncate', afterBytes: 5 } });
results['truncate'] = await shownError(onMock.latest());
const showsKey = () => Promise.reject(new Error(`refused ${API_KEY}`));
const failing = new FxRates({ baseUrl: url, apiKey: API_KEY, maxRetries: 0, fetch: showsKey });
results['error with the key'] = await shownError(failing.latest());
process.stdout.write(`${JSON.stringify(results)}\n`);
process.exit(0);
