import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { contractOf } from '../../scripts/generator/generate-files.ts';
import { SpecError } from '../../scripts/generator/spec-node.ts';

/**
 * Documents of other APIs, added to openapi.yaml as they are, as if the service had such endpoints too.
 * test/fixtures/published/README.md names their owners and licences.
 */
const FOLDER = join(import.meta.dirname, '../fixtures/published');
const OPENAPI = parse(await readFile(join(import.meta.dirname, '../../openapi.yaml'), 'utf8'));

type Json = Record<string, unknown>;
interface Published {
  readonly openapi: string;
  readonly paths: Record<string, { readonly get: { readonly responses: Record<string, Json> } & Json }>;
  readonly components?: Record<string, Json>;
}

const files = (await readdir(FOLDER)).filter((name) => !name.endsWith('.md')).sort();
const documents = new Map<string, Published>();
for (const name of files) documents.set(name, parse(await readFile(join(FOLDER, name), 'utf8')));

/** Refusals of each document; all of them are about the envelope or the key, which are the service's own. */
const REFUSALS: Readonly<Record<string, number>> = {
  'exchangerate-api-v4.yaml': 2,
  'frankfurter-v1.json': 5,
  'frankfurter-v2.json': 5,
  'nager-date.yaml': 4,
  'open-exchange-rates.yaml': 7,
  'xkcd.yaml': 2,
};

test.each(files)('%s is rejected only for its envelope', (name) => {
  const refusals = refusalsOf(added(documents.get(name)!));

  for (const { problem } of refusals) expect(problem).toMatch(/envelope of the service|exactly one scheme/);
  expect(refusals).toHaveLength(REFUSALS[name] ?? 0);
});

test.each(files)('%s in the envelope of the service needs no edit', (name) => {
  const published = documents.get(name)!;

  const { operations } = contractOf(added(inEnvelope(published)));

  expect(operations).toHaveLength(Object.keys(OPENAPI.paths).length + Object.keys(published.paths).length);
});

function refusalsOf(document: unknown) {
  try {
    contractOf(document);
    return [];
  } catch (error) {
    if (error instanceof SpecError) return error.refusals;
    throw error;
  }
}

/** openapi.yaml with the paths and components of another document. */
function added({ openapi, paths, components = {} }: Published): unknown {
  const kinds = Object.keys({ ...OPENAPI.components, ...components }).filter((kind) => kind !== 'securitySchemes');
  const both = Object.fromEntries(kinds.map((kind) => [kind, { ...components[kind], ...OPENAPI.components[kind] }]));
  const { securitySchemes } = OPENAPI.components;
  return { ...OPENAPI, openapi, paths: { ...OPENAPI.paths, ...paths }, components: { ...both, securitySchemes } };
}

/** Responses become the `data` of the envelope, errors the `ErrorResponse`; every operation needs the key. */
function inEnvelope(published: Published): Published {
  const copy = structuredClone(published);
  for (const { get } of Object.values(copy.paths)) {
    delete get['security'];
    for (const [status, response] of Object.entries(get.responses))
      get.responses[status] = enveloped(response, status, copy);
  }
  return copy;
}

function enveloped(response: Json, status: string, { components }: Published): Json {
  const shared = typeof response['$ref'] === 'string' ? response['$ref'].split('/').at(-1)! : undefined;
  const { content, ...rest } = (shared === undefined ? response : (components?.['responses']?.[shared] ?? {})) as Json;
  if (content === undefined) return rest;
  const media = Object.entries(content as Record<string, Json>).map(([type, { schema, example }]) => {
    const properties = { success: { const: true }, data: schema };
    const envelope = { type: 'object', required: ['success', 'data'], properties };
    const examples = example === undefined ? {} : { example: { success: true, data: example } };
    return [type, status === '200' ? { schema: envelope, ...examples } : { schema: ERROR }];
  });
  return { ...rest, content: Object.fromEntries(media) };
}

const ERROR = { $ref: '#/components/schemas/ErrorResponse' };
