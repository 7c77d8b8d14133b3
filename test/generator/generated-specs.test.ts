import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Contract, Operation, Parameter } from '../../scripts/generator/contract.ts';
import { exampleOf } from '../../scripts/generator/examples.ts';
import { contractOf, generateFiles } from '../../scripts/generator/generate-files.ts';
import { SpecError } from '../../scripts/generator/spec-node.ts';
import { FakeIo } from '../helpers/cli-io.ts';
import type { FakeClock } from '../helpers/fake-clock.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { GeneratedVariants, type Variant } from './generated-variants.ts';
import { type Addition, addition } from './specs-random.ts';

const OPENAPI = parse(await readFile(join(import.meta.dirname, '../../openapi.yaml'), 'utf8'));
const ADDED = new Set(Object.keys(OPENAPI.paths));

const documents = fc.sample(addition, { seed: 13, numRuns: inLongRuns(90, 30) }).map(documentOf);
const refusals = documents.map(refusalOf);
const ACCEPTED = inLongRuns(40, 10);
const accepted = documents.filter((_, index) => refusals[index] === undefined).slice(0, ACCEPTED);

test('some documents are rejected, with a place; the others are generated', () => {
  for (const refusal of refusals) {
    if (refusal !== undefined) expect(refusal.message).toMatch(/^(#\/.+: .+\n?)+$/);
  }
  expect(accepted).toHaveLength(ACCEPTED);
});

test('every document that is accepted compiles and has commands, and client and mock agree on it', async () => {
  const variants = await GeneratedVariants.create();
  for (const document of accepted) {
    const contract = contractOf(document);
    const { variant } = await variants.add(generateFiles(document));
    for (const operation of contract.operations) {
      if (!ADDED.has(operation.path)) await tryOperation(operation, contract, variant);
    }
    await expectOutput(variant, ['version'], /\bfxrates\b/);
    await expectOutput(variant, ['--help'], /^Usage: fxrates/m);
  }

  expect(await variants.typeErrors()).toEqual([]);
});

/** Calls it from a program and on the command line, with the required parameters and with all. */
async function tryOperation(operation: Operation, { schemas }: Contract, variant: Variant): Promise<void> {
  const { FxRates, createMockServer } = variant;
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
    parameters.filter(({ required }) => required).map(({ name, examples }) => [name, examples[0]]),
  );

  for (const values of [required, all]) {
    await (parameters.length === 0 ? call({}) : call(values));
    await expectOutput(
      variant,
      [operation.id, ...typed(parameters, values), '--envelope', '--json'],
      /"success":\s*true/,
      {
        key,
        fetch: mock.fetch,
        baseUrl: mock.baseUrl,
      },
    );
  }
  await expectOutput(variant, [operation.id, '--help'], /^Usage: fxrates/m);
  expect(mock.journal.list().map(({ status, operation: id }) => [status, id])).toEqual(
    Array.from({ length: 4 }, () => [200, operation.id]),
  );
}

/** `name=value`, as one types it. */
function typed(parameters: readonly Parameter[], values: Readonly<Record<string, unknown>>): string[] {
  return parameters
    .filter(({ name }) => name in values)
    .flatMap(({ name }) => ['-p', `${name}=${[values[name]].flat().join(',')}`]);
}

async function expectOutput(
  { main }: Variant,
  argv: string[],
  output: RegExp,
  connection?: { readonly key: string; readonly baseUrl: string; readonly fetch: typeof fetch },
): Promise<void> {
  const io = new FakeIo({
    env: { FXRATES_API_KEY: connection?.key, FXRATES_BASE_URL: connection?.baseUrl, FXRATES_SHARE_LIMIT: 'off' },
    ...(connection ? { fetch: connection.fetch as NonNullable<FakeIo['fetch']> } : {}),
  });
  const code = await (io.clock as FakeClock).run(main(argv, io), { horizonMs: Number.POSITIVE_INFINITY });
  expect({ argv, code, stderr: io.written.stderr.replace(/^.*deprecated.*\n/gm, '') }).toEqual({
    argv,
    code: 0,
    stderr: '',
  });
  expect(io.written.stdout).toMatch(output);
}

function documentOf({ paths, schemas }: Addition) {
  const components = { ...OPENAPI.components, schemas: { ...OPENAPI.components.schemas, ...schemas } };
  return { ...OPENAPI, paths: { ...OPENAPI.paths, ...paths }, components };
}

function refusalOf(document: unknown): SpecError | undefined {
  try {
    generateFiles(document);
    return undefined;
  } catch (error) {
    if (error instanceof SpecError) return error;
    throw error;
  }
}
