import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Parameter } from '../../scripts/generator/contract.ts';
import { exampleOf } from '../../scripts/generator/examples.ts';
import { contractOf } from '../../scripts/generator/main.ts';
import type { FxRates } from '../../src/client/index.ts';
import { recordedRules } from '../../src/mock-server/index.ts';
import type { FakeIoOptions } from '../helpers/cli-io.ts';
import { sender } from '../helpers/mock-with-key.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { GeneratedProject, merged, type Products, runCommand } from './generated-project.ts';

const [openapi, pastRates, quotaDetail, documented, stress, kinds] = await Promise.all(
  [
    '../openapi',
    'fixtures/past-rates',
    'fixtures/quota-detail',
    'fixtures/documented-latest',
    'fixtures/stress.openapi',
    'fixtures/document-kinds',
  ].map(async (path) => parse(await readFile(join(import.meta.dirname, '..', `${path}.yaml`), 'utf8'))),
);
/** A component with the name of a type of the client. */
const batch = { components: { schemas: { Batch: { type: 'object', properties: { size: { type: 'integer' } } } } } };
const document = [pastRates, quotaDetail, documented, batch].reduce(merged, openapi);
const project = await GeneratedProject.create(document);
const products = await project.add(document);

const USES = `import './src/cli/program/main.ts';
import { type Batch, type ContractTypes, FxRates } from './src/client/index.ts';
import './src/mock-server/index.ts';

const fx = new FxRates();
const { base, date, rates } = await fx.latest({ base: 'EUR', symbols: ['USD'], after: '1' });
export const texts: string[] = [base, date];
export const usd: number | undefined = rates['USD'];
export const batch = fx.batch([{ base: 'EUR' }]);

const past = await fx.pastRates({ date: '2026-01-02' });
export const eur: number | undefined = past.rates['EUR'];
export const size: number | undefined = ({} as ContractTypes.Batch).size;
export type Items = Batch<object, number>;
export const withBase = fx.pastRates({ date: '2026-01-02', base: 'EUR' }, { timeoutMs: 500 });
`;

const MISUSES = `import { FxRates } from './src/client/index.ts';

const fx = new FxRates();
fx.latest({ base: 'XXX' });
fx.latest({ bse: 'EUR' });
fx.batch([{ symbols: 3 }]);
fx.pastRates();
fx.pastRates({ base: 'EUR' });
fx.pastRates({ date: 20260102 });
fx.pastRates({ date: '2026-01-02', symbols: 'EUR' });
const { rates } = await fx.pastRates({ date: '2026-01-02' });
export const eur: string = rates['EUR'];
`;

/** A list of numbers or of such lists. */
const NESTED = {
  oneOf: [{ type: 'number' }, { type: 'array', items: { $ref: '#/components/schemas/LatestData' } }],
  type: null,
};

/** The contract with a schema for the data of `latest`. */
function withData(schema: object) {
  const components = { schemas: { LatestData: { ...schema, additionalProperties: null } } };
  const json = { 'application/json': { examples: null } };
  return merged(openapi, {
    components,
    paths: { '/api/v1/latest': { get: { responses: { 200: { content: json } } } } },
  });
}

/** The contract with fewer parameters of `latest`, by what it has. */
const FEWER = Object.fromEntries(
  [
    ['base alone', [{ name: 'base', in: 'query', required: true, schema: { type: 'string' } }]],
    ['no parameters', []],
  ].map(([name, parameters]) => {
    const paths = { '/api/v1/latest': { get: { 'x-free-form-query': null, parameters } } };
    return [name, merged(openapi, { paths })];
  }),
);

test('all products compile with changed contracts, and the types of other contracts compile', async () => {
  await project.addTypes(stress);
  await project.addTypes(withData(NESTED));
  for (const document of Object.values(FEWER)) await project.addSources(document);

  expect(await project.typeErrors({ 'uses.ts': USES, 'misuses.ts': MISUSES })).toEqual([
    'misuses.ts(4): TS2322',
    'misuses.ts(5): TS2561',
    'misuses.ts(6): TS2345',
    'misuses.ts(7): TS2554',
    'misuses.ts(8): TS2741',
    'misuses.ts(9): TS2322',
    'misuses.ts(10): TS2353',
    'misuses.ts(12): TS2322',
  ]);
});

test.each([
  ['base alone', 'has no parameter'],
  ['no parameters', "latest has no parameter 'bse'\n"],
])('a batch refuses a parameter that a contract with %s does not have', async (name, problem) => {
  const { code, stderr } = await runCommand(await project.add(FEWER[name]), ['batch', '--each', 'bse=EUR']);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) });
});

interface ChangedClient {
  latest(query?: object): Promise<Record<string, unknown>>;
  pastRates(query: object): Promise<unknown>;
}

function started(from: Products = products) {
  const mock = from.createMockServer({ clock: 'virtual', seed: 7 });
  const { key } = mock.createKey({ plan: 'developer' });
  const options = { ...mock.clientOptions(), apiKey: key };
  const fx = new from.FxRates(options) as FxRates as unknown as ChangedClient;
  const env = { FXRATES_BASE_URL: mock.baseUrl, FXRATES_API_KEY: key, FXRATES_SHARE_LIMIT: 'off' };
  const fxrates = (...argv: string[]) => runCommand(from, argv, { env, fetch: mock.fetch });
  return { mock, send: sender(mock, key), fx, fxrates };
}

test('the invented data has what the contract names', async () => {
  const { fx } = started();

  const data = await fx.latest({ base: 'EUR', symbols: ['USD', 'GBP'] });

  expect(data).toEqual({
    base: 'EUR',
    date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    rates: { USD: expect.any(Number), GBP: expect.any(Number) },
    source: { kind: 'central-bank', checked: expect.stringMatching(/Z$/) },
  });
});

test.each([
  [
    { type: 'array', items: { type: 'object', properties: { code: { type: 'string', example: 'EUR' } } } },
    [{ code: 'EUR' }],
  ],
  [{ type: 'number', example: 1.5 }, 1.5],
  // Fields of other names, and types, than the invented ones.
  [
    {
      type: 'object',
      properties: {
        source: { type: 'string', example: 'ECB' },
        timestamp: { type: 'integer', example: 1768998000 },
        quotes: { type: 'object', additionalProperties: { type: 'number' }, example: { USDEUR: 0.92 } },
      },
    },
    { source: 'ECB', timestamp: 1768998000, quotes: { USDEUR: 0.92 } },
  ],
  [
    {
      required: ['base'],
      properties: { base: { type: 'string' }, date: { type: 'string', format: 'date' } },
      example: { base: 'USD' },
    },
    { base: 'EUR', date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
  ],
])('the mock sends the fields that the contract documents, and no others: %j', async (schema, data) => {
  const { fx } = started(await project.add(withData(schema)));

  expect(await fx.latest({ base: 'EUR' })).toEqual(data);
});

test('the client refuses wrong parameters before anything is sent', async () => {
  const { mock, fx } = started();

  await expect(fx.latest({ base: 'XXX' })).rejects.toThrow(/latest: 'base'/);
  await expect(fx.latest({ bse: 'EUR' })).rejects.toThrow(/latest: .*bse/);
  await expect(fx.pastRates({ date: '2026-02-30' })).rejects.toThrow(/pastRates.*date/);
  await expect(fx.pastRates({ date: '2026-01-02', symbols: 'EUR' })).rejects.toThrow(/pastRates.*symbols/);
  expect(mock.journal.list()).toEqual([]);
});

test('an integer that a number cannot hold is sent as text, unchanged, and refused as a number', async () => {
  const { mock, fx, fxrates } = started();

  await fx.latest({ after: '9007199254740993' });
  const typed = await fxrates('latest', 'after=9007199254740993', '--json');
  const even = await fxrates('latest', 'after=9007199254740996', '--json');

  expect([typed.code, even.code]).toEqual([0, 0]);
  const sent = mock.journal.list().map(({ query }) => query['after']);
  expect(sent).toEqual(['9007199254740993', '9007199254740993', '9007199254740996']);
  await expect(fx.latest({ after: 2 ** 53 })).rejects.toThrow(
    /latest: 'after': .* as text, such as "9007199254740993"/,
  );
  await expect(fx.latest({ after: '-1' })).rejects.toThrow(/latest: 'after'/);
});

test('the data that a test sets is sent as it is', async () => {
  const { mock, send } = started();
  mock.latest.set({ rates: { EUR: 1 } });

  expect((await send()).json()).toEqual({ success: true, data: { rates: { EUR: 1 } } });
});

test('a switch of the mock serves requests with wrong parameters', async () => {
  const { mock, send } = started();
  mock.behaviour.set({ badParameter: 'ignored' });

  expect((await send('/api/v1/latest?day=soon')).status).toBe(200);
});

test('the commands have the documented parameters, with help, checks and completion', async () => {
  const { fxrates } = started();

  const rates = await fxrates('latest', 'base=EUR', 'symbols=USD,GBP', '--json');
  const wrong = await fxrates('latest', 'base=XXX');
  const unknown = await fxrates('latest', 'bse=EUR');
  const help = await fxrates('latest', '--help');
  const batch = await fxrates('batch', '--each', 'base=EUR,GBP', '-p', 'symbols=USD', '--json');
  const offers = await products.completionText(['latest', ''], {});
  const choices = await products.completionText(['latest', 'base='], {});

  expect(JSON.parse(rates.stdout)).toMatchObject({ base: 'EUR', rates: { USD: expect.any(Number) } });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining("'base'") });
  expect(unknown).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining("latest has no parameter 'bse'"),
  });
  expect(help.stdout).toMatch(/^ {2}base=<EUR\|GBP\|USD> +The currency of which one unit is priced \(default: USD\)$/m);
  expect(help.stdout).not.toMatch(/does not document|sent unchanged/);
  expect(
    batch.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).data.base)
      .sort(),
  ).toEqual(['EUR', 'GBP']);
  expect(offers).toMatch(/^base=\nsymbols=\nafter=\nday=\n/);
  expect(choices).toMatch(/^base=EUR\nbase=GBP\nbase=USD\n/);
});

test('a mock server replays what a command has recorded of a query with a list', async () => {
  const { mock, fx, fxrates } = started();
  const file = join(temporaryFolder(), 'rates.ndjson');

  await fxrates('latest', 'base=EUR', 'symbols=USD,GBP', '--fixture-out', file);
  mock.setUp({ rules: recordedRules(await readFile(file, 'utf8')) });

  expect(await fx.latest({ base: 'EUR', symbols: ['USD', 'GBP'] })).toMatchObject({ base: 'EUR' });
});

/** Parameters of other names, and names of today with other values. */
const OTHERS = [
  { name: 'from', in: 'query', required: true, schema: { type: 'string', pattern: '^[a-z]{3}$' } },
  { name: 'to', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
  { name: 'symbols', in: 'query', schema: { type: 'string', enum: ['all', 'metals'] } },
  { name: 'page', in: 'query', schema: { type: ['integer', 'string'] } },
  {
    name: 'most',
    in: 'query',
    schema: { oneOf: [{ type: 'integer', minimum: 1 }, { const: 'all' }, { type: 'integer' }] },
  },
];
const other = await project.add(
  merged(openapi, { paths: { '/api/v1/latest': { get: { 'x-free-form-query': null, parameters: OTHERS } } } }),
);

test('latest has the documented parameters, also under other names than the invented ones', async () => {
  const { mock, fx, fxrates } = started(other);

  const data = await fx.latest({ from: 'eur', to: ['USD', 'GBP'], symbols: 'metals' });
  const typed = await fxrates('latest', 'from=eur', 'to=USD,GBP', '--json');
  const batch = await fxrates('batch', '--each', 'from=eur,gbp', '-p', 'symbols=all', '--json');
  const invented = await fxrates('latest', 'base=EUR');
  const help = await fxrates('latest', '--help');
  const offers = await other.completionText(['latest', ''], {});

  expect(data).toMatchObject({ base: 'USD', rates: { EUR: expect.any(Number) } });
  expect([typed.code, batch.code, invented.code]).toEqual([0, 0, 2]);
  expect(invented.stderr).toContain("latest has no parameter 'base'");
  expect(help.stdout).toMatch(/^ {2}\$ fxrates latest from=\w+ --watch /m);
  expect(offers).toMatch(/^from=\nto=\nsymbols=\n/);
  expect(mock.journal.list().map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

test('a probe sends the parameters that latest requires', async () => {
  const { mock, fxrates } = started(other);

  await fxrates('probe');

  const sent = mock.journal.list().filter(({ operation }) => operation === 'latest');
  expect(sent).toMatchObject([{ status: 200, query: { from: expect.stringMatching(/^[a-z]{3}$/), base: 'XXX' } }]);
});

test('the client, the mock and the commands refuse a value that is none of the alternatives, or several', async () => {
  const { send, fx, fxrates } = started(other);
  const problem = "latest: 'most': Invalid input";

  for (const most of ['none', 5]) {
    const refused = await send(`/api/v1/latest?from=eur&most=${most}`);
    const typed = await fxrates('latest', 'from=eur', `most=${most}`);

    expect(refused.json()).toMatchObject({ error: { message: expect.stringContaining(problem) } });
    expect(typed).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
    await expect(fx.latest({ from: 'eur', most })).rejects.toThrow(problem);
  }
});

test.each([
  ['documented', '?base=GBP&symbols=USD%2CEUR&day=2026-01-02', 200],
  ['documented', '?base=GBP&symbols=USD,EUR&day=2026-01-02', 200],
  ['documented', '', 200],
  ['documented', '?base=XXX', 400],
  ['documented', '?symbols=usd', 400],
  ['documented', '?symbols=', 400],
  ['documented', '?day=2026-02-30', 400],
  ['documented', '?after=9007199254740993', 200],
  ['documented', '?after=9007199254740996', 200],
  ['documented', '?after=9007199254740994', 400],
  ['documented', '?after=-3', 400],
  ['documented', '?day=2026-01-02&day=2026-01-03', 400],
  ['other', '?from=eur&symbols=metals', 200],
  ['other', '?from=EUR', 400],
  ['other', '?symbols=all', 400],
  ['other', '?from=eur&symbols=EUR', 400],
  ['other', '?from=eur&page=2', 200],
  ['other', '?from=eur&page=1.5', 200],
  ['other', '?from=eur&page=007', 200],
] as const)(
  'the mock checks the parameters of any client, the %s ones: latest%s is %i',
  async (names, search, status) => {
    const { send } = started(names === 'other' ? other : products);

    const response = await send(`/api/v1/latest${search}`);

    expect(response.status).toBe(status);
    if (status === 400) expect(response.json()).toMatchObject({ success: false, error: { code: 'invalid_parameter' } });
  },
);

test('an added operation is a command, with help and checks', async () => {
  const { fxrates } = started();

  const list = await fxrates('--help');
  const help = await fxrates('pastRates', '--help');
  const rates = await fxrates('pastRates', 'date=2026-01-02', '--json');
  const wrong = await fxrates('pastRates', 'date=2026-02-30');
  const missing = await fxrates('pastRates', 'base=EUR');

  expect(list.stdout).toMatch(/^ +pastRates +exchange rates of a day \(uses quota\)$/m);
  expect(help.stdout).toMatch(/^ {2}date=<date> +The day, such as 2026-01-02 \(required\)$/m);
  expect(help.stdout).toMatch(/^ {2}round=<boolean> +Whether rates are rounded \(deprecated\) \(default: false\)$/m);
  expect(JSON.parse(rates.stdout)).toMatchObject({ date: '2026-01-02', rates: { EUR: 0.92 } });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('date') });
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("needs the parameter 'date'") });
});

const quota = (...args: string[]) => runCommand(products, ['quota', ...args, '--curl']);

test('a batch names the line of a query that has another parameter', async () => {
  const { code, stdout, stderr } = await runCommand(products, ['batch'], { stdin: 'base=EUR\nbse=EUR\n' });

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain("line 2: latest has no parameter 'bse'");
});

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

const withKinds = merged(openapi, kinds);
const { operations, schemas } = await contractOf(withKinds);
const ofKinds = await project.add(withKinds);
const ADDED = operations.filter(({ path }) => !['/api/v1/latest', '/api/v1/quota'].includes(path));

test.each(ADDED)('$id is a command and a method of the client, and client and mock agree on it', async (operation) => {
  const { FxRates, createMockServer } = ofKinds;
  const { query } = operation;
  const parameters = query.kind === 'named' ? query.parameters : [];
  const mock = createMockServer({ seed: 3 });
  const { key } = mock.createKey({ plan: 'unlimited' });
  const fx = new FxRates({ ...mock.clientOptions(), apiKey: key, logger: { warn: () => undefined } });
  const call = (fx as unknown as Record<string, (values: object) => Promise<unknown>>)[operation.id]!.bind(fx);
  const all = Object.fromEntries(
    parameters.flatMap((parameter) => {
      const value = exampleOf(parameter.schema, schemas);
      return value === undefined ? [] : [[parameter.name, value]];
    }),
  );
  const required = Object.fromEntries(
    parameters.filter(({ required }) => required).map(({ name, example }) => [name, example]),
  );

  for (const values of [required, all]) {
    await (parameters.length === 0 ? call({}) : call(values));
    const argv = [operation.id, ...typed(parameters, values), '--envelope', '--json'];
    await expectOutput(argv, /"success":\s*true/, {
      env: { FXRATES_API_KEY: key, FXRATES_BASE_URL: mock.baseUrl },
      fetch: mock.fetch,
    });
  }
  await expectOutput([operation.id, '--help'], /^Usage: fxrates/m);
  expect(mock.journal.list().map(({ status, operation: id }) => [status, id])).toEqual(
    Array.from({ length: 4 }, () => [200, operation.id]),
  );
});

/** `name=value`, as one types it. */
function typed(parameters: readonly Parameter[], values: Readonly<Record<string, unknown>>): string[] {
  return parameters
    .filter(({ name }) => name in values)
    .flatMap(({ name }) => ['-p', `${name}=${[values[name]].flat().join(',')}`]);
}

async function expectOutput(argv: string[], output: RegExp, options: FakeIoOptions = {}) {
  const env = { FXRATES_SHARE_LIMIT: 'off', ...options.env };
  const { code, stdout, stderr } = await runCommand(ofKinds, argv, { ...options, env });
  const errors = stderr.replace(/^.*deprecated.*\n/gm, '');
  expect({ argv, code, errors }).toEqual({ argv, code: 0, errors: '' });
  expect(stdout).toMatch(output);
}
