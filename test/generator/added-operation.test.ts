import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { generatedProject } from '../helpers/generated-project.ts';
import { specWith } from '../helpers/spec-with.ts';

const GENERATED = join(import.meta.dirname, '../../src/generated');
const project = await generatedProject(await specWith('historical.yaml'));

const USES = `import type { OperationMethods } from './src/generated/operation-methods.ts';

declare const fx: OperationMethods;

const { rates } = await fx.historical({ date: '2026-01-02' });
export const eur: number | undefined = rates['EUR'];
export const withBase = fx.historical({ date: '2026-01-02', base: 'EUR' }, { timeoutMs: 500 });
`;

const MISUSES = `import type { OperationMethods } from './src/generated/operation-methods.ts';

declare const fx: OperationMethods;

fx.historical();
fx.historical({ base: 'EUR' });
fx.historical({ date: 20260102 });
fx.historical({ date: '2026-01-02', symbols: 'EUR' });
const { rates } = await fx.historical({ date: '2026-01-02' });
export const eur: string = rates['EUR'];
`;

test('an operation added to the spec is a typed method', async () => {
  const errors = await project.typeErrors({ 'uses.ts': USES, 'misuses.ts': MISUSES });

  expect(errors).toEqual([
    'misuses.ts(5): TS2554',
    'misuses.ts(6): TS2345',
    'misuses.ts(7): TS2322',
    'misuses.ts(8): TS2353',
    'misuses.ts(10): TS2322',
  ]);
}, 60_000);

test('an operation added to the spec is in the tables of operations and schemas', async () => {
  const { operations } = await project.load('src/generated/operations.ts');
  const { querySchemas, responseSchemas } = (await project.load('src/generated/schemas.ts')) as Record<
    string,
    Record<string, z.ZodType>
  >;

  const { historical } = operations as Record<string, { example: unknown; errors: unknown[] }>;
  expect(historical).toMatchObject({
    id: 'historical',
    path: '/api/v1/historical',
    query: 'named',
    parameters: [
      { name: 'date', description: 'The day, such as 2026-01-02.', required: true, type: 'date' },
      { name: 'base', description: 'Currency that one unit of is priced.', required: false, type: 'string' },
    ],
    consumesQuota: true,
    worksWhenQuotaExhausted: false,
  });
  expect(responseSchemas!['historical']!.parse(historical!.example)).toEqual(historical!.example);
  const query = querySchemas!['historical']!;
  expect(query.safeParse({ date: '2026-01-02', base: undefined }).success).toBe(true);
  expect(query.safeParse({ date: '2026-02-30' }).error?.issues[0]).toMatchObject({ path: ['date'], format: 'date' });
  expect(query.safeParse({ date: '2026-01-02', symbols: 'EUR' }).success).toBe(false);
});

test('an operation added to the spec only adds lines to the generated files', async () => {
  for (const name of await readdir(GENERATED)) {
    const before = (await readFile(join(GENERATED, name), 'utf8')).split('\n');
    const after = (await project.read(`src/generated/${name}`)).split('\n');
    expect(missingLines(before, after), name).toEqual([]);
  }
});

/** Lines of `before` that do not stand in `after` in the same order. */
function missingLines(before: readonly string[], after: readonly string[]): string[] {
  let from = 0;
  return before.filter((line) => {
    const found = after.indexOf(line, from);
    if (found >= 0) from = found + 1;
    return found < 0;
  });
}
