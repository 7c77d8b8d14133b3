import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Contract, Operation, Parameter } from '../../scripts/generator/contract.ts';
import { exampleOf } from '../../scripts/generator/examples.ts';
import { contractOf } from '../../scripts/generator/main.ts';
import { SpecError } from '../../scripts/generator/spec-node.ts';
import type { FakeIoOptions } from '../helpers/cli-io.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { GeneratedProject, merged, type Products, runCommand } from './generated-project.ts';
import { type Addition, addition } from './specs-random.ts';

const [OPENAPI, KINDS] = await Promise.all(
  ['../../openapi.yaml', '../fixtures/document-kinds.yaml'].map(async (path) =>
    parse(await readFile(join(import.meta.dirname, path), 'utf8')),
  ),
);
/** The operations that the products need. Others, and their components, could have the names of random ones. */
const NEEDED = ['/api/v1/latest', '/api/v1/quota'];
const NEEDED_SCHEMAS = /^(Latest|Quota|Error)(Data|Detail|Response)$/;

const documents = fc.sample(addition, { seed: 13, numRuns: inLongRuns(160, 24) }).map(documentOf);
const refusals = await Promise.all(documents.map(refusalOf));
const ACCEPTED = inLongRuns(40, 5);
const accepted = documents.filter((_, index) => refusals[index] === undefined).slice(0, ACCEPTED);

test('some documents are rejected, with a place; the others are generated', () => {
  for (const refusal of refusals) {
    if (refusal !== undefined) expect(refusal.message).toMatch(/^(#\/.+: .+\n?)+$/);
  }
  expect(accepted).toHaveLength(ACCEPTED);
});

test('every document that is accepted compiles and has commands, and client and mock agree on it', async () => {
  const project = await GeneratedProject.create();
  for (const document of [merged(OPENAPI, KINDS), ...accepted]) {
    const contract = await contractOf(document);
    const products = await project.add(document);
    for (const operation of contract.operations) {
      if (!NEEDED.includes(operation.path)) await tryOperation(operation, contract, products);
    }
    await expectOutput(products, ['--version'], /^\d/);
    await expectOutput(products, ['--help'], /^Usage: fxrates/m);
  }

  expect(await project.typeErrors()).toEqual([]);
});

/** Calls it from a program and on the command line, with the required parameters and with all. */
async function tryOperation(operation: Operation, { schemas }: Contract, products: Products): Promise<void> {
  const { FxRates, createMockServer } = products;
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
    await expectOutput(products, argv, /"success":\s*true/, {
      env: { FXRATES_API_KEY: key, FXRATES_BASE_URL: mock.baseUrl },
      fetch: mock.fetch,
    });
  }
  await expectOutput(products, [operation.id, '--help'], /^Usage: fxrates/m);
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

async function expectOutput(products: Products, argv: string[], output: RegExp, options: FakeIoOptions = {}) {
  const env = { FXRATES_SHARE_LIMIT: 'off', ...options.env };
  const { code, stdout, stderr } = await runCommand(products, argv, { ...options, env });
  const errors = stderr.replace(/^.*deprecated.*\n/gm, '');
  expect({ argv, code, errors }).toEqual({ argv, code: 0, errors: '' });
  expect(stdout).toMatch(output);
}

function documentOf({ paths, schemas }: Addition) {
  const own = Object.entries(OPENAPI.components.schemas).filter(([name]) => NEEDED_SCHEMAS.test(name));
  const components = { ...OPENAPI.components, schemas: { ...Object.fromEntries(own), ...schemas } };
  const needed = Object.fromEntries(NEEDED.map((path) => [path, OPENAPI.paths[path]]));
  return { ...OPENAPI, paths: { ...needed, ...paths }, components };
}

async function refusalOf(document: unknown): Promise<SpecError | undefined> {
  try {
    await contractOf(document);
    return undefined;
  } catch (error) {
    if (error instanceof SpecError) return error;
    throw error;
  }
}
