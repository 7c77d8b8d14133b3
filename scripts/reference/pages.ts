import { adminPage } from './admin-page.ts';
import { cliPage } from './cli-page.ts';
import { clientPage } from './client-page.ts';
import { mockPage } from './mock-page.ts';
import { resolveLinks } from './write-declarations.ts';

/** The expected pages of docs/reference by path. */
export function referencePages(root: string): ReadonlyMap<string, string> {
  const pages = { client: clientPage(root), 'mock-server': mockPage(root), cli: cliPage(), 'admin-api': adminPage() };
  return new Map(Object.entries(pages).map(([name, page]) => [`docs/reference/${name}.md`, finish(page)]));
}

function finish(page: string): string {
  const [title = '', ...rest] = page.split('\n');
  return `${resolveLinks([title, '', NOTICE, ...rest].join('\n'))}\n`;
}

const NOTICE = '<!-- Written by npm run docs:reference from the code. Do not edit. -->';
