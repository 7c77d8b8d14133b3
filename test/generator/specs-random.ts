import fc from 'fast-check';

type Json = Readonly<Record<string, unknown>>;

/** An addition to openapi.yaml: operations and components with names and schemas that occur in real documents. */
export interface Addition {
  readonly paths: Readonly<Record<string, Json>>;
  readonly schemas: Json;
}

const COMPONENTS = ['Record', 'Error', 'Date', 'Symbol', 'Array', 'Promise', 'latest-rates', 'currency', 'Undefined'];

const IDS = words(`historical convert timeseries class delete default new await operations z eval
  get-rates GetRates list_rates withMeta signal export import arguments x1`);
const WRONG_IDS = ['mock', 'help', 'then', 'toString', 'limits', '1st'];

const PARAMETERS = [
  ...words(`date base symbols[] filter[base] start_date start-date cache envelope
    param json help version timeout no_wait wait output p`),
  'a b',
  ...words("x.y € _ success query path name A a $ref x&y - it's"),
];
const WRONG_PARAMETERS = ['toString', '__proto__', 'api_key', ''];

const FIELDS = ['rates', 'date', 'base', 'class', 'a b', '', '€', 'data', 'success', 'x-1', '0', "it's"];

/** The generator rejects a document with one of these. */
const wrong = <Value>(...values: readonly Value[]) => ({ weight: 1, arbitrary: fc.constantFrom(...values) });
const common = <Value>(...values: readonly Value[]) => ({ weight: 60, arbitrary: fc.constantFrom(...values) });

const annotations = fc.record(
  {
    title: fc.constant('A title'),
    description: fc.constantFrom('One line.', 'Two\nlines */ `x` \\ "quoted".', ''),
    deprecated: fc.boolean(),
    readOnly: fc.boolean(),
    $comment: fc.constant('A comment'),
    'x-order': fc.nat(9),
    externalDocs: fc.constant({ url: 'https://x.test' }),
  },
  { requiredKeys: [] },
);

/** One value of a parameter. */
const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ type: fc.constant('string') }, { requiredKeys: ['type'] }),
  fc.constantFrom(
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'uuid' },
    { type: 'string', pattern: '^[A-Z]{3}$', example: 'EUR' },
    { type: 'string', minLength: 2, maxLength: 4 },
    { type: 'string', enum: ['asc', 'desc'] },
    { type: 'string', 'x-extensible-enum': ['free', "it's"] },
    { type: 'string', default: 'EUR', example: 'USD' },
    { enum: [1, 2.5, true, 'EUR'] },
    { type: 'integer', enum: [10, 20] },
    { type: 'boolean', enum: [true] },
    { const: 'only' },
    { type: 'boolean' },
    { type: 'integer', format: 'int64' },
    { type: 'integer', minimum: 1, maximum: 3 },
    { type: 'number', format: 'double', exclusiveMinimum: 0 },
    { type: 'number', minimum: 0.1 },
    { type: ['integer', 'string'] },
  ),
);

/** Any schema, a few levels deep; references to components may be circular. */
const { schema } = fc.letrec<{ schema: Json; object: Json }>((tie) => ({
  object: fc
    .record({
      properties: fc.dictionary(fc.constantFrom(...FIELDS), tie('schema'), { maxKeys: 3 }),
      open: fc.constantFrom({}, { additionalProperties: true }, { additionalProperties: { type: 'number' } }),
      requiresAll: fc.boolean(),
    })
    .map(({ properties, open, requiresAll }) => ({
      type: 'object',
      properties,
      ...open,
      ...(requiresAll ? { required: Object.keys(properties) } : {}),
    })),
  schema: fc
    .tuple(
      fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        scalar,
        fc.constantFrom(...COMPONENTS).map((name) => ({ $ref: `#/components/schemas/${name}` })),
        tie('object'),
        tie('schema').map((items) => ({ type: 'array', items })),
        tie('schema').map((rates) => ({ type: 'object', additionalProperties: rates })),
        fc.constant({
          type: 'object',
          propertyNames: { enum: ['EUR', 'USD'] },
          additionalProperties: { type: 'number' },
        }),
        fc.constant({ patternProperties: { '^[A-Z]{3}$': { type: 'number' } }, additionalProperties: false }),
        fc.tuple(tie('schema'), tie('schema')).map((anyOf) => ({ anyOf })),
        fc.tuple(tie('object'), tie('object')).map((allOf) => ({ allOf })),
        tie('schema').map((member) => ({ oneOf: [member, { type: 'null' }] })),
        fc.oneof(
          common<Json>({}, { nullable: true }, { type: 'object', additionalProperties: false }, { properties: {} }),
          wrong<Json>({ not: {} }, { type: 'object', required: ['constructor'] }),
        ),
      ),
      annotations,
    )
    .map(([own, notes]) => ({ ...notes, ...own })),
}));

const parameter = fc
  .record({
    name: fc.oneof(
      common(...PARAMETERS),
      { weight: 5, arbitrary: fc.string({ minLength: 1 }) },
      wrong(...WRONG_PARAMETERS),
    ),
    isInPath: fc.boolean(),
    required: fc.boolean(),
    schema: fc.oneof(
      scalar,
      scalar.map((items): Json => ({ type: 'array', items, minItems: 1 })),
      scalar.map((one): Json => ({ anyOf: [one, { type: 'null' }] })),
      fc.constant<Json>({}),
    ),
    explode: fc.option(fc.boolean(), { nil: undefined }),
    deprecated: fc.boolean(),
  })
  .map(({ isInPath, explode, required, ...rest }) =>
    isInPath && !/[{}/]/.test(rest.name)
      ? { ...rest, in: 'path', required: true }
      : { ...rest, in: 'query', required, ...(explode === undefined ? {} : { explode }) },
  );

const operation = fc.record({
  id: fc.oneof(common(...IDS), wrong(...WRONG_IDS)),
  parameters: fc.uniqueArray(parameter, { maxLength: 5, selector: ({ name }) => name }),
  separator: fc.constantFrom('/', '/', '..', '.', '-'),
  media: fc.constantFrom('application/json', 'application/json; charset=utf-8', 'application/vnd.x+json', '*/*'),
  data: schema,
  notes: annotations,
  consumesQuota: fc.option(fc.boolean(), { nil: undefined }),
});

/** A few operations, each with a unique path. */
export const addition: fc.Arbitrary<Addition> = fc.record({
  paths: fc.array(operation, { minLength: 1, maxLength: 3 }).map((all) => Object.fromEntries(all.map(pathItem))),
  schemas: fc.record(Object.fromEntries(COMPONENTS.map((name) => [name, schema]))),
});

type Generated = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

function pathItem(generated: Generated, index: number): [path: string, item: Json] {
  const { id, parameters, separator, media, data, notes, consumesQuota } = generated;
  const placeholders = parameters.filter((one) => one.in === 'path').map(({ name }) => `{${name}}`);
  const envelope = { type: 'object', required: ['success', 'data'], properties: { success: { const: true }, data } };
  const get = {
    operationId: `${id}${index === 0 ? '' : index}`,
    ...('description' in notes ? { description: notes.description } : { summary: 'Something.' }),
    ...('deprecated' in notes ? { deprecated: notes.deprecated } : {}),
    ...(consumesQuota === undefined ? {} : { 'x-consumes-quota': consumesQuota }),
    parameters,
    responses: { 200: { description: '', content: { [media]: { schema: envelope } } }, '4XX': { description: '' } },
  };
  return [`/api/v1/added${index}${placeholders.length > 0 ? '/' : ''}${placeholders.join(separator)}`, { get }];
}

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}
