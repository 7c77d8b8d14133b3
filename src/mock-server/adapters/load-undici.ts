import { createRequire } from 'node:module';

type Undici = typeof import('undici');

const require = createRequire(import.meta.url);

/** undici, loaded when it is first needed: `mock.fetch` and `mock.serve` do without. */
export function loadUndici(): Undici {
  return require('undici') as Undici;
}
