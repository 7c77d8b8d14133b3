import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../helpers/long-tests.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { TSC_7 } from '../helpers/typescript.ts';
import { specWith } from './generated-project.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Also temporary files of other tests and of `npm pack`, which may be removed meanwhile. */
const LEFT_OUT = /^(?:node_modules|dist|\.git|coverage|\.documents-.*|.*\.tgz)$/;

/** The whole project with three more operations, after `npm run generate` and no other edit. */
const root = temporaryFolder();

/** The tests that read the contract. Run all others with `npm test` in such a copy. */
const SUITES = [
  ...[
    'test/contracts/schemas.test.ts',
    'test/contracts/specification.test.ts',
    'test/docs',
    'test/client/endpoints.test.ts',
  ],
  ...['test/cli/errors/parser-error.test.ts', 'test/cli/help', 'test/mock-server/adapters/msw-handlers.test.ts'],
  ...['test/mock-server/http', 'test/mock-server/stubs', 'test/mock-server/behaviour'],
];

// `added-operation.test.ts` and `generated-specs.test.ts` try less in every run.
describe.skipIf(!isLong)('the project with three more operations', () => {
  beforeAll(async () => {
    await cp(ROOT, root, { recursive: true, filter: (source) => !LEFT_OUT.test(basename(source)) });
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'), 'dir');
    await writeFile(join(root, 'openapi.yaml'), await specWith('three-operations.yaml'));
    await run('tsx', 'scripts/generate.ts');
  });

  test('compiles with its tests', async () => {
    expect(await runNode(TSC_7, '--pretty', 'false')).toBe('');
  });

  test('has one test that fails, which states the number of operations', async () => {
    await run('vitest', 'run', ...SUITES, '--maxWorkers=1', '--reporter=json', '--outputFile=report.json');

    const report: Report = JSON.parse(await readFile(join(root, 'report.json'), 'utf8'));
    const failed = report.testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed').map(({ title }) => title),
    );
    expect(failed).toEqual(['the contract is two endpoints, latest and quota, both GET below /api/v1']);
    expect(report.numPassedTests).toBeGreaterThan(150);
  });
});

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
  }[];
}

/** The output of a tool of the copy. */
function run(tool: string, ...args: readonly string[]): Promise<string> {
  return runNode(join(root, 'node_modules/.bin', tool), ...args);
}

function runNode(...args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (_, stdout) => resolve(stdout.trim()));
  });
}
