import * as z from 'zod';
import { ADMIN_TAGS, type AdminRoute } from './admin-server.ts';
import { problem } from './gate.ts';

/** The admin API as OpenAPI 3.1, generated from its routes. */
export function openApi(routes: readonly AdminRoute[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Admin API of the fxrates mock server',
      version: '1',
      description: 'Controls a mock server from another process. The emulated service never counts these requests.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/__fxrates', description: 'The mock itself.' },
      {
        url: '/__fxrates/spaces/{space}',
        description: 'A space: the same routes, except those of spaces.',
        variables: { space: { default: 'space_1', description: 'Name of an open space.' } },
      },
    ],
    security: [{ adminToken: [] }],
    tags: Array.from(new Set(routes.map(({ tag }) => tag)), (name) => ({ name, description: ADMIN_TAGS[name] })),
    paths,
    components: {
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: 'Printed when the mock starts.' },
      },
      schemas: { Problem: schemaOf(problem) },
    },
  };
}

function operation(route: AdminRoute) {
  const { id, tag, summary, body, isOpen = false } = route;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${summary}. ${isOpen ? 'Needs no token.' : 'Needs the admin token.'}`,
    ...(isOpen ? { security: [] } : {}),
    ...parametersOf(route),
    ...(body === undefined
      ? {}
      : { requestBody: { required: route.needsBody, content: json(schemaOf(body, 'input')) } }),
    responses: { ...successResponses(route), '4XX': { description: 'Refused.', content: json(PROBLEM) } },
  };
}

const PROBLEM = { $ref: '#/components/schemas/Problem' };

function successResponses({ response }: AdminRoute) {
  if (response === undefined) return { 204: { description: 'Done.' } };
  return { 200: { description: 'Done.', content: json(schemaOf(response)) } };
}

function parametersOf({ path, query }: AdminRoute) {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const { properties = {} } = query === undefined ? {} : schemaOf(query, 'input');
  const inQuery = Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
  const parameters = [...inPath, ...inQuery];
  return parameters.length === 0 ? {} : { parameters };
}

function json(schema: unknown) {
  return { 'application/json': { schema } };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any', // a part that the mock checks itself
    override: restoreExamples,
  });
  return rest;
}

/** zod omits the examples of an input that it checks before it parses it. */
function restoreExamples({
  zodSchema,
  jsonSchema,
}: {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: object;
}) {
  const { examples } = z.globalRegistry.get(zodSchema) ?? {};
  if (examples !== undefined) Object.assign(jsonSchema, { examples });
}
