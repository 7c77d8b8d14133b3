import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The end-to-end tests use what `npm run build` made.
    pool: 'forks',
    testTimeout: 30_000,
    coverage: {
      include: ['src/**'],
      exclude: ['src/generated/**', 'src/cli/bin.ts'],
      thresholds: { lines: 95, branches: 90 },
    },
  },
});
