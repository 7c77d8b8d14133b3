import { join } from 'node:path';

const MODULES = join(import.meta.dirname, '../../node_modules');

/**
 * The compilers, to run with Node.js. Version 7 is several times as fast, but has no API for tsup and the reference
 * pages; `tsc` in `node_modules/.bin` can be either.
 */
export const TSC_5 = join(MODULES, 'typescript/bin/tsc');
export const TSC_7 = join(MODULES, 'typescript-7/bin/tsc');
