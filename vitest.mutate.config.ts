import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

const { projects: _all, ...options } = base.test ?? {};

/**
 * For `scripts/mutate.ts`, which chooses the tests. Stryker's own option for it never activates a mutant of a constant,
 * and with the sources that vitest kept from another run no mutant is active.
 */
export default defineConfig({
  test: {
    ...options,
    // Many mutants let a call hang. A test that ends is much cheaper than a process that Stryker has to end.
    testTimeout: 10_000,
    hookTimeout: 20_000,
    experimental: { fsModuleCache: false },
    include: process.env['MUTATE_TESTS']?.split(',') ?? [],
  },
});
