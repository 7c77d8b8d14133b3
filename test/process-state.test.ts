import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { processState } from '../src/process-state.ts';

test('copies of the package share a value, which printing globalThis does not show', async () => {
  const value = processState('test-of-the-registry.1', () => ({ count: 1 }));
  vi.resetModules();
  const copy = await import('../src/process-state.ts');

  expect(copy.processState).not.toBe(processState);
  expect(copy.processState('test-of-the-registry.1', () => ({ count: 2 }))).toBe(value);
  expect(copy.processState('test-of-the-registry.2', () => ({ count: 2 }))).not.toBe(value);
  expect(inspect(globalThis)).not.toContain('fxrates.test-of-the-registry');
});
