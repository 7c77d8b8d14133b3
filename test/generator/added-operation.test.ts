import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { FxRates } from '../../src/client/index.ts';
import { GeneratedProject, merged, runCommand } from './generated-project.ts';

const [openapi, pastRates, quotaDetail] = await Promise.all(
  ['../../openapi.yaml', '../fixtures/past-rates.yaml', '../fixtures/quota-detail.yaml'].map(async (path) =>
    parse(await readFile(join(import.meta.dirname, path), 'utf8')),
  ),
);
/** A component with the name of a type of the client. */
const batch = { components: { schemas: { Batch: { type: 'object', properties: { size: { type: 'integer' } } } } } };
const document = [pastRates, quotaDetail, batch].reduce(merged, openapi);
const project = await GeneratedProject.create(document);
const products = await project.add(document);

const USES = `import './src/cli/program/main.ts';
import { type Batch, type ContractTypes, FxRates } from './src/client/index.ts';
import './src/mock-server/index.ts';

const fx = new FxRates();

const { rates } = await fx.pastRates({ date: '2026-01-02' });
export const eur: number | undefined = rates['EUR'];
export const size: number | undefined = ({} as ContractTypes.Batch).size;
export type Items = Batch<object, number>;
export const withBase = fx.pastRates({ date: '2026-01-02', base: 'EUR' }, { timeoutMs: 500 });
`;

const MISUSES = `import { FxRates } from './src/client/index.ts';

const fx = new FxRates();

fx.pastRates();
fx.pastRates({ base: 'EUR' });
fx.pastRates({ date: 20260102 });
fx.pastRates({ date: '2026-01-02', symbols: 'EUR' });
const { rates } = await fx.pastRates({ date: '2026-01-02' });
export const eur: string = rates['EUR'];
`;

test('an operation added to the spec is a typed method, and all products compile with it', async () => {
  const errors = await project.typeErrors({ 'uses.ts': USES, 'misuses.ts': MISUSES });

  expect(errors).toEqual([
    'misuses.ts(5): TS2554',
    'misuses.ts(6): TS2741',
    'misuses.ts(7): TS2322',
    'misuses.ts(8): TS2353',
    'misuses.ts(10): TS2322',
  ]);
});

interface PastRatesClient extends FxRates {
  pastRates(query: Readonly<Record<string, string | boolean>>): Promise<unknown>;
}

test('the client refuses a wrong query before anything is sent', async () => {
  const mock = products.createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey({ plan: 'free' });
  const fx = new products.FxRates({ apiKey: key, ...mock.clientOptions() }) as unknown as PastRatesClient;

  await expect(fx.pastRates({ date: '2026-02-30' })).rejects.toThrow(/pastRates.*date/);
  await expect(fx.pastRates({ date: '2026-01-02', symbols: 'EUR' })).rejects.toThrow(/pastRates.*symbols/);
  expect((await fx.quota()).monthly_used).toBe(0);
});

test('the command line has it, with help and checks', async () => {
  const mock = products.createMockServer({ clock: 'virtual' });
  const env = { FXRATES_BASE_URL: mock.baseUrl, FXRATES_API_KEY: mock.createKey().key };
  const fxrates = (...argv: string[]) => runCommand(products, argv, { env, fetch: mock.fetch });

  const list = await fxrates('--help');
  const help = await fxrates('pastRates', '--help');
  const rates = await fxrates('pastRates', 'date=2026-01-02', '--json');
  const wrong = await fxrates('pastRates', 'date=2026-02-30');

  expect(list.stdout).toMatch(/^ +pastRates +exchange rates of a day \(uses quota\)$/m);
  expect(help.stdout).toMatch(/^ {2}date=<date> +The day, such as 2026-01-02 \(required\)$/m);
  expect(help.stdout).toMatch(/^ {2}round=<boolean> +Whether rates are rounded \(deprecated\) \(default: false\)$/m);
  expect(JSON.parse(rates.stdout)).toMatchObject({ date: '2026-01-02', rates: { EUR: 0.92 } });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('date') });
});

const quota = (...args: string[]) => runCommand(products, ['quota', ...args, '--curl']);

test.each([
  [['watch=true', 'detail=full'], '/api/v1/quota?detail=full&watch=true'],
  [['detail=short'], '/api/v1/quota?detail=short'],
  [['-p', 'watch=false'], '/api/v1/quota?watch=false'],
  [[], '/api/v1/quota'],
])('a parameter that the spec adds to quota is one of its command: %j', async (args, target) => {
  const { stdout } = await quota(...args);

  expect(stdout).toContain(` 'https://api.example.test${target}'\n`);
});

test.each([
  ['detail=long', /^fxrates: quota: 'detail': /],
  ['depth=1', /^fxrates: quota has no parameter 'depth'/],
])('a wrong parameter of quota is a usage error: %s', async (text, message) => {
  expect(await quota(text)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
});

test('the help of quota has the parameters that the spec adds to it', async () => {
  const { stdout } = await runCommand(products, ['quota', '--help']);

  expect(stdout).toMatch(/^ {2}detail=<short\|full> +How much to tell$/m);
});
