import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The end-to-end tests use what `npm run build` made.
    pool: 'forks',
    // By default one core stays idle, which is half of a small machine.
    maxWorkers: '100%',
    // Ends a test that hangs. Far above what a busy machine takes: that is no failure.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    coverage: {
      include: ['src/**'],
      // Generated, or run in spawned processes and browsers alone.
      exclude: ['src/generated/**', 'src/cli/bin.ts', 'src/cli/node-io.ts', 'src/mock-server/panel/browser/**'],
      thresholds: { lines: 97, branches: 92 },
    },
  },
});
