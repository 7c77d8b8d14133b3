/** `npm run docs:reference`: writes docs/reference from the code. A test fails if a page differs from the code. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePages } from './reference/pages.ts';

const root = join(import.meta.dirname, '..');
mkdirSync(join(root, 'docs/reference'), { recursive: true });
for (const [path, page] of referencePages(root)) writeFileSync(join(root, path), page);
