import { expect, onTestFinished, test } from 'vitest';
import type * as ClientModule from '../../src/client/index.ts';
import type { FxRates, Logger } from '../../src/client/index.ts';
import type * as MockServerModule from '../../src/mock-server/index.ts';
import { generatedProject, specWith, typeErrors } from './generated-project.ts';

const project = await generatedProject(await specWith('past-rates.yaml', 'quota-detail.yaml'));

const USES = `import { FxRates } from './src/client/index.ts';

const fx = new FxRates();

const { rates } = await fx.pastRates({ date: '2026-01-02' });
export const eur: number | undefined = rates['EUR'];
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

test('an operation added to the spec is a typed method', async () => {
  const errors = await project.typeErrors({ 'uses.ts': USES, 'misuses.ts': MISUSES });

  expect(errors).toEqual([
    'misuses.ts(5): TS2554',
    'misuses.ts(6): TS2741',
    'misuses.ts(7): TS2322',
    'misuses.ts(8): TS2353',
    'misuses.ts(10): TS2322',
  ]);
});

test('the client refuses a wrong query before anything is sent', async () => {
  const { fx } = await mockAndClient();

  await expect(fx.pastRates({ date: '2026-02-30' })).rejects.toThrow(/pastRates.*date/);
  await expect(fx.pastRates({ date: '2026-01-02', symbols: 'EUR' })).rejects.toThrow(/pastRates.*symbols/);
  expect((await fx.quota()).monthly_used).toBe(0);
});

test('the command line has it, with help and checks', async () => {
  const { mock, key } = await mockAndClient();
  const server = await mock.serve({ port: 0 });
  onTestFinished(() => server.close());
  const fxrates = (...args: string[]) =>
    project.run('src/cli/bin.ts', args, { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key });

  const [list, help, rates, wrong] = await Promise.all([
    fxrates('--help'),
    fxrates('pastRates', '--help'),
    fxrates('pastRates', 'date=2026-01-02', '--json'),
    fxrates('pastRates', 'date=2026-02-30'),
  ]);

  expect(list.stdout).toMatch(/^ +pastRates +exchange rates of a day \(uses quota\)$/m);
  expect(help.stdout).toMatch(/^date=<date> {2}The day, such as 2026-01-02 \(required\)$/m);
  expect(help.stdout).toMatch(/^round=<boolean> {2}Whether rates are rounded \(deprecated\) \(default:\s+false\)$/m);
  expect(JSON.parse(rates.stdout)).toMatchObject({ date: '2026-01-02', rates: { EUR: 0.92 } });
  expect(wrong).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('date') });
});

const quota = (...args: string[]) =>
  project.run('src/cli/bin.ts', ['quota', ...args, '--dry-run'], { FXRATES_BASE_URL: 'http://127.0.0.1:1' });

test.each([
  [['watch=true', 'detail=full'], '/api/v1/quota?detail=full&watch=true'],
  [['detail=short'], '/api/v1/quota?detail=short'],
  [['-p', 'watch=false'], '/api/v1/quota?watch=false'],
  [[], '/api/v1/quota'],
])('a parameter that the spec adds to quota is one of its command: %j', async (args, target) => {
  const { stdout } = await quota(...args);

  expect(new URL(JSON.parse(stdout).url)).toMatchObject({ href: `http://127.0.0.1:1${target}` });
});

test.each([
  ['detail=long', /^fxrates: quota: 'detail': /],
  ['depth=1', /^fxrates: quota has no parameter 'depth'/],
])('a wrong parameter of quota is a usage error: %s', async (text, message) => {
  expect(await quota(text)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(message) });
});

test('client, command line and mock server compile with the additions', async () => {
  const entries = ['src/client/index.ts', 'src/cli/bin.ts', 'src/mock-server/index.ts'];

  expect(await typeErrors(project.root, entries)).toEqual([]);
});

interface PastRatesClient extends FxRates {
  pastRates(query: Readonly<Record<string, string | boolean>>): Promise<unknown>;
}

/** A mock and a client of the copy, with a new Free key. */
async function mockAndClient(logger?: Logger) {
  const { createMockServer } = (await project.load('src/mock-server/index.ts')) as typeof MockServerModule;
  const { FxRates } = (await project.load('src/client/index.ts')) as typeof ClientModule;
  const mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey({ plan: 'free' });
  const fx = new FxRates({ apiKey: key, ...mock.clientOptions(), logger }) as unknown as PastRatesClient;
  return { mock, key, fx };
}
