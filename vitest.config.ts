import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that change their process for good: nock, fake timers, flags of V8. */
const ISOLATED = [
  'test/browser/**/*.test.ts',
  'test/cli/growth.test.ts',
  'test/e2e/{real-limiters,replaced-fetch}.test.ts',
  'test/mock-server/clock/fake-timers.test.ts',
];

/** The longest first. Each takes at least as long as ten others; some mostly wait. */
const LONG = [
  ...['documents', 'package', 'redis-outages', 'cli-batch', 'redis-shared-limit', 'wild', 'fake-timers'],
  ...['cli-examples', 'cli-signals', 'generated-specs', 'hostile-service', 'batch', 'cli-streams', 'cli-completion'],
  ...['cli-files', 'api-report', 'chaos', 'client-on-mock', 'cli-mock', 'mock-files', 'contract', 'low-priority'],
  'own-process',
];

/** Starts the long files first: at the end, one worker would run one of them while the others have nothing to do. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Vitest puts the files of the isolated project first; the order within a project changes here.
    const sorted = await super.sort(files);
    const rankOf = ({ project, moduleId }: TestSpecification) => {
      const place = LONG.indexOf(basename(moduleId, '.test.ts'));
      return project.config.isolate ? -1 : place === -1 ? LONG.length : place;
    };
    return sorted.sort((one, other) => rankOf(one) - rankOf(other));
  }
}

export default defineConfig({
  test: {
    pool: 'forks',
    // The transformed sources stay in node_modules/.experimental-vitest-cache for the next run.
    experimental: { fsModuleCache: true },
    // By default one core stays idle, which is half of a small machine. One more than the cores: the longest files wait
    // for servers and processes.
    maxWorkers: availableParallelism() + 1,
    // Ends a test that hangs. Far above what a busy machine takes: that is no failure.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 600_000 } },
    coverage: {
      include: ['src/**'],
      // Generated, or run in spawned processes and browsers alone.
      exclude: ['src/generated/**', 'src/cli/bin.ts', 'src/cli/io/node-io.ts', 'src/mock-server/panel/browser/**'],
      thresholds: { lines: 97, branches: 92 },
    },
    sequence: { sequencer: LongFilesFirst },
    globalSetup: 'test/helpers/temporary-folder.ts',
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ISOLATED,
          // A process for each file would load the sources again, which takes as long as the tests.
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
          unstubGlobals: true,
        },
      },
      { extends: true, test: { name: 'isolated', include: ISOLATED } },
    ],
  },
});
