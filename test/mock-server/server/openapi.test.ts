import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { SWITCH_NAMES, switches } from '../../../src/mock-server/behaviour/switches.ts';
import { createMockServer } from '../../../src/mock-server/index.ts';
import { FAILURES, type FailureKind } from '../../../src/mock-server/rules/failures.ts';
import { openApi } from '../../../src/mock-server/server/openapi.ts';
import { adminRoutes } from '../../../src/mock-server/server/routes.ts';
import { lintProblems } from '../../helpers/lint-problems.ts';
import { servedMock } from '../../helpers/served-mock.ts';
import { until } from '../../helpers/until.ts';

test('is a valid OpenAPI document', async () => {
  expect(await lintProblems(JSON.stringify(openApi(adminRoutes)))).toEqual([]);
});

test('responses match the schemas of the document', async () => {
  await using it = await servedMock();
  for (const key of ['x', it.mock.createKey().key]) await it.call(key);
  it.mock.keys.revoke('key_1');
  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);

  const readings = adminRoutes.filter(
    ({ method, path, response }) => method === 'GET' && response && !path.includes('{'),
  );
  const received = await Promise.all(readings.map(async ({ path }) => [path, (await it.admin('GET', path)).body]));
  for (const [path, body] of received) {
    const { schema } = described(path, 'get').responses[200].content['application/json'];
    expect([path, ajv.validate(schema, body), ajv.errorsText()]).toEqual([path, true, 'No errors']);
  }
  expect(readings.length).toBeGreaterThan(8);
});

test('the description of PATCH /behaviour has the values of each switch', () => {
  const { requestBody } = described('/behaviour', 'patch');
  const accepts = new Ajv2020({ strict: false }).compile(requestBody.content['application/json'].schema);
  const all = Object.values(switches).flatMap(({ default: byDefault, alternatives }) => [byDefault, ...alternatives]);
  const candidates = [...new Set<unknown>([...all, 'x', '', 'a_live_', 'A1_live_x', 2, 2.5, -2, 1e15, [], {}])];

  const differ = SWITCH_NAMES.flatMap((name) =>
    candidates.flatMap((value) => {
      const isValid = switches[name].schema.safeParse(value).success;
      const bodies = [{ [name]: value }, { [name]: { value, provenance: 'observed' } }];
      return bodies.filter((body) => accepts(body) !== isValid);
    }),
  );

  expect(differ).toEqual([]);
  expect(accepts({ preset: 'hostile', rateWindow: 'x' })).toBe(false);
});

test('the description of POST /rules accepts what the mock accepts, and has an example', async () => {
  const { requestBody } = described('/rules', 'post');
  const { schema } = requestBody.content['application/json'] as { schema: { examples: readonly object[] } };
  const accepts = new Ajv2020({ strict: false }).compile(schema);
  await using mock = createMockServer();
  await mock.serve();
  const kinds = Object.keys(FAILURES) as readonly FailureKind[];

  for (const rule of [...schema.examples, ...kinds.map((kind) => ({ fail: { kind, ...SETTINGS[kind] } }))]) {
    expect([rule, accepts(JSON.parse(JSON.stringify(mock.rules.add(rule))))]).toEqual([rule, true]);
    expect([rule, accepts(rule)]).toEqual([rule, true]);
  }
  for (const wrong of [{ fail: { kind: 'x' } }, { respond: { status: 99 } }, { delay: 1 }, { nth: 0, delayMs: 1 }])
    expect([wrong, accepts(wrong)]).toEqual([wrong, false]);
});

const SETTINGS: { readonly [Kind in FailureKind]?: object } = {
  truncate: { afterBytes: 1 },
  dribble: { intervalMs: 1 },
};

function routesWithBody() {
  const routes = Object.entries(openApi(adminRoutes).paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path, method, ...described(path, method) })),
  );
  return routes.filter(({ requestBody }) => requestBody !== undefined);
}

test('says which bodies are required: exactly the routes that refuse a request without one', async () => {
  await using it = await servedMock();
  const { id: keyId, accountId } = it.mock.createKey();
  const ids: Readonly<Record<string, string>> = { keyId, accountId, ruleId: 'x', snapshotId: 'x' };
  const differ: string[] = [];
  for (const { method, path, requestBody } of routesWithBody()) {
    const target = `${it.server.url}/__fxrates${path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '')}`;
    const headers = { authorization: `Bearer ${it.server.adminToken}` };
    let isAnswered = false;
    const sent = fetch(target, { method: method.toUpperCase(), headers }).finally(() => {
      isAnswered = true;
    });
    // One of the routes waits for a request.
    await until(() => isAnswered || it.mock.fetch(it.mock.baseUrl).then(() => isAnswered));
    const { status } = await sent;
    if ((status === 400) !== requestBody.required) differ.push(`${method} ${path}: ${status}`);
  }

  expect(differ).toEqual([]);
});

interface Content {
  readonly content: Readonly<Record<'application/json', { readonly schema: object }>>;
}

/** An operation as the document describes it. */
function described(path: string, method: string) {
  return openApi(adminRoutes).paths[path]?.[method] as {
    readonly requestBody: Content & { readonly required: boolean };
    readonly responses: { readonly 200: Content };
  };
}
