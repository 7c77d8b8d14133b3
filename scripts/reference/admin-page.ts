import * as z from 'zod';
import { adminRoutes, openApi } from '../../src/mock-server/admin/routes.ts';
import * as shapes from '../../src/mock-server/admin/shapes.ts';
import { SWITCH_NAMES } from '../../src/mock-server/behaviour/switches.ts';
import { faultMatch } from '../../src/mock-server/faults/fault-kinds.ts';
import { requestFilter } from '../../src/mock-server/journal/request-filter.ts';
import { requestPatternShape } from '../../src/mock-server/matching/request-pattern.ts';
import { stubInput } from '../../src/mock-server/stubs/mock-stubs.ts';
import { fieldOf, type JsonSchema, type Property, propertiesOf, typeOf } from './json-schema.ts';
import { anchorOf, blocks } from './write-declarations.ts';

/** Parameters and responses that several routes share; the page explains them once. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  Account: shapes.account,
  CreatedKey: shapes.createdKey,
  KeySummary: shapes.keySummary,
  KeyUsage: shapes.keyUsage,
  Mail: shapes.mail,
  ClockState: shapes.clockState,
  JournalEntry: shapes.journalEntry,
  Audit: shapes.audit,
  Problem: shapes.problem,
  Stub: adminRoutes.find(({ id }) => id === 'addStub')?.response ?? z.never(),
  StubOptions: stubInput,
  StubResponse: stubInput.shape.responses.unwrap().element,
  RequestPattern: z.strictObject(requestPatternShape),
  RequestFilter: requestFilter,
  FaultMatch: faultMatch,
  ValuePattern: requestPatternShape.body.unwrap(),
};

interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: JsonSchema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

/** The routes of the admin API, from its OpenAPI document. */
export function adminPage(): string {
  const { tags, paths } = openApi(adminRoutes);
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation: operation as unknown as Operation,
    })),
  );
  return blocks([
    '# Admin API of the mock server: reference',
    INTRO,
    ...tags.map(({ name, description }) => {
      const own = routes.filter(({ operation }) => operation.tags.includes(name));
      return blocks([`## ${name}`, description, ...own.map(({ title, operation }) => writeRoute(title, operation))]);
    }),
    '## Objects',
    ...Object.entries(SHAPES).map(([name, shape]) => writeShape(name, schemaOf(shape))),
  ]);
}

const INTRO = `Routes below \`/__fxrates\` of a mock server, for tests in any language. \`/__fxrates/spaces/{space}\` has the same
routes for one space, except those about spaces. Each route except \`GET /health\` requires \`authorization: Bearer <token>\`. The
token is in the admin URL that the mock prints when it starts, and in \`FXRATES_MOCK_ADMIN_TOKEN\` if that is set. Bodies are JSON. An error
is a [Problem](#problem) with a 4xx status. \`GET /openapi.json\` returns this page as OpenAPI 3.1. For examples, see
[mock-server.md](../mock-server.md).`;

function writeRoute(title: string, { summary, parameters = [], requestBody, responses }: Operation): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const body = requestBody?.content['application/json']?.schema;
  return blocks([
    `### \`${title}\``,
    `${summary}.`,
    query.length === 0
      ? ''
      : `Query:\n\n${fields(query.map(({ name, schema }) => ({ name, schema, isRequired: false })))}`,
    body === undefined ? '' : bodyText(body),
    responseText(responses['200']?.content),
  ]);
}

function writeShape(name: string, schema: JsonSchema): string {
  const properties = propertiesOf(schema);
  const isSelf = (part: JsonSchema) => part !== schema && nameOf(part);
  const text =
    properties.length > 0 ? fields(properties) : `\`${typeOf(schema, (part) => isSelf(part) || undefined)}\``;
  return blocks([`### \`${name}\``, text]);
}

function bodyText(schema: JsonSchema): string {
  const properties = propertiesOf(schema);
  if (nameOf(schema) === undefined && properties.length > 0) return `Body:\n\n${fields(properties)}`;
  const isEmpty = schema.additionalProperties === false && properties.length === 0; // such as the body of POST /reset
  return isEmpty ? '' : `Body: ${typeText(schema)}`;
}

function responseText(content: Content | undefined): string {
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(content ?? {});
  if (type === '') return 'Returns 204, without a body.';
  if (type !== 'application/json') return `Returns \`${type}\`.`;
  return `Returns ${typeText(schema)}`;
}

/** A type as code, with links to the objects that it mentions. */
function typeText(schema: JsonSchema): string {
  const text = typeOf(schema, nameOf);
  return `\`${text}\`${linksIn(text)}.`;
}

function linksIn(text: string): string {
  const names = new Set(text.match(/\b[A-Z]\w+/g) ?? []);
  const links = Array.from(names, (name) =>
    name in SHAPES ? `[${name}](#${anchorOf(name)})` : EXPLAINED[name],
  ).filter(Boolean);
  return links.length === 0 ? '' : ` (see ${links.join(', ')})`;
}

/** Links to the pages that explain names which are not shapes of this page. */
const EXPLAINED: Readonly<Record<string, string>> = {
  BehaviourOptions: '[BehaviourOptions](mock-server.md#behaviouroptions)',
  Snapshot: '[Snapshot](mock-server.md#snapshot)',
  SwitchDescription: '[SwitchDescription](mock-server.md#switchdescription)',
  Fault: '[faults](mock-server.md#faults)',
  BehaviourValues: '[switches](mock-server.md#switches)',
};

function fields(properties: readonly Property[]): string {
  return properties
    .map((property) => {
      const { description, default: byDefault } = property.schema;
      const text = fieldOf(property, nameOf);
      const facts = [description ?? '', byDefault === undefined ? '' : `Default: ${JSON.stringify(byDefault)}.`];
      const words = facts.filter((fact) => fact !== '').join(' ');
      return `- \`${text}\`${linksIn(text)}${words === '' ? '' : `: ${words}`}`;
    })
    .join('\n');
}

/** The shape that a schema equals, apart from its description. */
function nameOf(schema: JsonSchema): string | undefined {
  const [first] = schema.oneOf ?? [];
  if (first?.properties?.['kind'] !== undefined) return 'Fault';
  const { properties = {} } = schema;
  if ('lastAccount' in properties) return 'Snapshot';
  if ('provenance' in properties && 'alternatives' in properties) return 'SwitchDescription';
  if (Object.keys(properties).some(isSwitch)) return 'preset' in properties ? 'BehaviourOptions' : 'BehaviourValues';
  return NAMES.get(keyOf(schema));
}

function isSwitch(name: string): boolean {
  return SWITCH_NAMES.some((known) => known === name);
}

function schemaOf(shape: z.ZodType, io: 'input' | 'output' = 'output'): JsonSchema {
  return z.toJSONSchema(shape, { io }) as JsonSchema;
}

/** Returns the same text for schemas that accept the same values, apart from their descriptions. */
function keyOf({ description: _, $schema: __, ...rest }: JsonSchema): string {
  return JSON.stringify(rest, (name, value) => (name === 'description' ? undefined : value));
}

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(SHAPES).flatMap(([name, shape]) =>
    (['input', 'output'] as const).map((io) => [keyOf(schemaOf(shape, io)), name] as const),
  ),
);
