import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Document, isMap, parseDocument, type YAMLMap } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');

/** The text of openapi.yaml with the maps of `test/fixtures/<fragment>` added to its own. */
export async function specWith(fragment: string): Promise<string> {
  const spec = parseDocument(await readFile(join(ROOT, 'openapi.yaml'), 'utf8'));
  const addition = parseDocument(await readFile(join(ROOT, 'test/fixtures', fragment), 'utf8'));
  merge(contents(spec), contents(addition));
  return String(spec);
}

function merge(target: YAMLMap, addition: YAMLMap): void {
  for (const { key, value } of addition.items) {
    const existing = target.get(key);
    if (isMap(existing) && isMap(value)) merge(existing, value);
    else target.set(key, value);
  }
}

function contents(document: Document): YAMLMap {
  if (!isMap(document.contents)) throw new Error('A YAML map is expected');
  return document.contents;
}
