import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enumSwitch } from '../../src/mock-server/behaviour/switch.ts';
import { type SwitchName, switches } from '../../src/mock-server/behaviour/switches.ts';
import { type BehaviourOptions, createMockServer, type MockServerOptions } from '../../src/mock-server/index.ts';
import { type ObservedBehaviour, type ProbeFetch, probeService } from '../../src/probe/index.ts';
import { inLongRuns } from '../helpers/long-tests.ts';

interface Probed {
  readonly plan?: 'free' | 'developer' | 'unlimited';
  readonly maxRequests?: number | undefined;
  readonly used?: number | undefined;
  /** Requests in the current minute. */
  readonly minute?: number;
  /** Latencies of requests and responses, used in turn. */
  readonly latenciesMs?: readonly number[];
}

/** A mock in the middle of a month, probed with its own clock. */
function mockAndProbe(behaviour: MockServerOptions['behaviour'], options: Probed = {}) {
  const { plan = 'free', maxRequests, used, minute, latenciesMs = [0] } = options;
  const mock = createMockServer({ behaviour, clock: { mode: 'virtual', now: '2026-01-15T10:20:30.405Z' } });
  const { id, key } = mock.createKey({ plan });
  if (used !== undefined) mock.keys.setUsage(id, { month: used });
  if (minute !== undefined) mock.keys.setUsage(id, { minute });
  let trips = 0;
  const trip = async () => {
    trips += 1;
    await mock.clock.sleep(latenciesMs[trips % latenciesMs.length]!);
  };
  const fetch: ProbeFetch = async (url, init) => {
    await trip();
    return mock.fetch(url, init).finally(trip);
  };
  const probe = () => probeService(`${mock.baseUrl}/`, { apiKey: key, maxRequests, fetch, clock: mock.clock });
  return { mock, id, key, probe };
}

function valuesOf(observed: ObservedBehaviour): Record<string, unknown> {
  const { about: _, ...known } = observed;
  return Object.fromEntries(
    Object.entries(known).map(([name, setting]) => [name, (setting as { readonly value: unknown }).value]),
  );
}

/** The observations of the basic requests, with any switches. */
const ALWAYS_SEEN: readonly SwitchName[] = [
  'rateHeaders',
  'snapshotGranularity',
  'keyPrefix',
  'missingKey',
  'malformedKey',
  'unknownKey',
  'unknownRoute',
  'badParameter',
  'severalCredentials',
  'methodNotAllowed',
  'headRequests',
  'optionsRequests',
  'etag',
];

const anyBehaviour = fc.record(
  Object.fromEntries(
    Object.entries(switches).map(([name, known]) => [
      name,
      fc.constantFrom<unknown>(known.default, ...known.alternatives),
    ]),
  ),
) as fc.Arbitrary<BehaviourOptions>;

const probed = fc.record({
  plan: fc.constantFrom('free' as const, 'developer' as const, 'unlimited' as const),
  maxRequests: fc.constantFrom(14, 60, 400),
  used: fc.constantFrom(undefined, 0, 7, 1000),
  latenciesMs: fc.array(fc.constantFrom(0, 1, 13, 170, 900), { minLength: 1, maxLength: 5 }),
});

test('probing a mock with random switches returns its switches, without guesses', async () => {
  await fc.assert(
    fc.asyncProperty(anyBehaviour, probed, async (behaviour, options) => {
      const { mock, probe } = mockAndProbe(behaviour, options);
      const isUsedUp = options.plan === 'free' && options.used === 1000;

      const observed = await probe();

      const values = valuesOf(observed);
      expect(mock.behaviour.values).toMatchObject(values);
      const seen: readonly string[] = isUsedUp
        ? [...ALWAYS_SEEN.filter((name) => name !== 'badParameter'), 'quotaExhausted', 'quotaRetryAfter']
        : ALWAYS_SEEN;
      expect(Object.keys(values)).toEqual(expect.arrayContaining([...seen]));
      if (options.plan === 'unlimited') expect(values).toHaveProperty('unlimitedAs');
      expect([...Object.keys(values), ...Object.keys(observed.about.notObserved)].sort()).toEqual(
        Object.keys(switches).sort(),
      );
      expect(observed.about.contradictions).toEqual([]);
    }),
    { numRuns: inLongRuns(200, 20) },
  );
});

test('a mock with the result of a probe gives the same result', async () => {
  const first = await mockAndProbe('hostile').probe();

  const again = mockAndProbe(JSON.parse(JSON.stringify(first)));

  expect(valuesOf(await again.probe())).toMatchObject(valuesOf(first));
  expect(again.mock.behaviour.describe().find(({ name }) => name === 'missingKey')).toMatchObject({
    value: '403 forbidden',
    provenance: 'observed',
    accepted: true,
  });
});

test('charges at most one request, and none if failures do not count', async () => {
  for (const [quotaChargesOn, used] of [
    ['accepted', 1],
    ['success', 0],
  ] as const) {
    const { mock, id, probe } = mockAndProbe({ quotaChargesOn });
    const observed = await probe();

    expect(mock.keys.get(id).month.used).toBe(used);
    expect(valuesOf(observed)['quotaChargesOn']).toBe(quotaChargesOn === 'success' ? 'success' : undefined);
  }
});

test('the first request is quota, and the budget is never exceeded', async () => {
  for (const maxRequests of [...Array(40).keys(), 59].map((index) => index + 1)) {
    const { mock, probe } = mockAndProbe({}, { maxRequests });
    const observed = await probe();
    const entries = mock.journal.list();

    expect(entries.length).toBeLessThanOrEqual(maxRequests);
    expect(entries.length).toBe(observed.about.requests);
    expect(entries[0]).toMatchObject({ path: '/api/v1/quota', status: 200 });
    const charged = entries.filter(({ path, status }) => path === '/api/v1/latest' && status !== 429).length;
    expect(charged).toBeLessThanOrEqual(maxRequests <= 40 ? 1 : 3);
  }
});

test('with a larger budget, also observes the refusals of the limit', async () => {
  const values = async (behaviour: BehaviourOptions) =>
    valuesOf(await mockAndProbe(behaviour, { maxRequests: 60 }).probe());

  expect(await values({})).toMatchObject({
    retryAfterUnit: 'seconds',
    retryAfterFormat: 'integer',
    retryAfterValue: 'rest-of-wait',
    quotaEndpointBucket: 'shared',
  });
  expect(
    await values({ retryAfterUnit: 'milliseconds', retryAfterValue: 'whole-minute', quotaEndpointBucket: 'separate' }),
  ).toMatchObject({
    retryAfterUnit: 'milliseconds',
    retryAfterValue: 'whole-minute',
    quotaEndpointBucket: 'separate',
  });
  expect(await values({ retryAfterFormat: 'decimal' })).toMatchObject({ retryAfterFormat: 'decimal' });
});

test('ends the probe with the results so far if the limit is reached', async () => {
  const { probe } = mockAndProbe({ retryAfterUnit: 'milliseconds' }, { minute: 28 });

  const observed = await probe();

  expect(valuesOf(observed)).toMatchObject({ missingKey: '401 unauthorized', retryAfterUnit: 'milliseconds' });
  expect(observed.about.notObserved).toHaveProperty('headRequests');
});

const BUDGET = 'the budget was used up before this step';
const NO_LIMIT = 'no request exceeded the per-minute limit';
const REACHED = 'the per-minute limit was reached before this step';

test.each<[string, Probed, Readonly<Record<string, string>>]>([
  [
    'a budget of one request',
    { maxRequests: 1, used: 1000 },
    { missingKey: BUDGET, quotaExhausted: BUDGET, quotaRetryAfter: BUDGET, quotaPeriod: BUDGET, cors: BUDGET },
  ],
  ['no budget for the limit', { maxRequests: 14 }, { quotaEndpointBucket: NO_LIMIT, retryAfterUnit: NO_LIMIT }],
  ['a used-up minute', { minute: 28 }, { headRequests: REACHED, quotaPeriod: REACHED, quotaEndpointBucket: REACHED }],
])('with %s, says why each switch was not observed', async (_, options, reasons) => {
  const { probe } = mockAndProbe({}, options);

  expect((await probe()).about.notObserved).toMatchObject(reasons);
});

test('a switch that no step of the probe observes says so', () => {
  expect(enumSwitch(['one', 'other'], { notShown: 'rate-window', why: '' }).notObserved).toBe(
    'no step of the probe observes it',
  );
});

const VALID = { apiKey: 'k'.repeat(20), fetch: strangeService(401) };

test.each<[unknown, object, string]>([
  ['', {}, 'baseUrl is refused because of its scheme; expected a URL such as https://api.example.com'],
  ['api.example.com', {}, 'because of its scheme'],
  ['http://rates.example', {}, 'because of its plain http'],
  ['https://x.test/api/v1', {}, 'because of its path'],
  ['https://u:p@x.test', {}, 'because of its credentials'],
  ['https://x.test?a=b', {}, 'because of its query'],
  ['https://x.test', { apiKey: undefined }, 'apiKey is missing'],
  ['https://x.test', { apiKey: 'Bearer a' }, "apiKey starts with 'Bearer '"],
  ['https://x.test', { timeoutMs: Number.NaN }, 'timeoutMs is NaN; expected a number above 0'],
  ['https://x.test', { maxRequests: 0 }, 'maxRequests is 0; expected a whole number from 1'],
  ['https://x.test', { maxRequest: 2 }, 'maxRequest is not an option of probeService(); did you mean maxRequests?'],
])('refuses a wrong argument before anything is sent: %j %j', async (baseUrl, wrong, message) => {
  const probing = probeService(baseUrl as string, { ...VALID, ...wrong });

  await expect(probing).rejects.toMatchObject({ code: 'invalid_option', message: expect.stringContaining(message) });
});

test.each([
  ['http://localhost:4010', {}],
  ['http://rates.test', { allowInsecureHttp: true }],
])('probes %s with %j', async (baseUrl, options) => {
  expect((await probeService(baseUrl, { ...VALID, ...options, maxRequests: 1 })).about.requests).toBe(1);
});

test('reports an invalid key after one request', async () => {
  const { mock } = mockAndProbe({});
  const probing = probeService(mock.baseUrl, { apiKey: `fx_live_${'a'.repeat(48)}`, fetch: mock.fetch });

  await expect(probing).rejects.toMatchObject({
    code: 'probe_failed',
    message: expect.stringContaining('401 unauthorized'),
  });
  expect(mock.journal.list()).toHaveLength(1);
});

test('reports behaviour that differs from the documentation as a contradiction', async () => {
  const { mock, key } = mockAndProbe({});
  const observed = await probeService(mock.baseUrl, {
    apiKey: key,
    clock: mock.clock,
    fetch: async (url, init) => {
      if (url.includes('api_key=fx_live_')) return new Response('{}', { status: 401 });
      if (init.method === 'OPTIONS') return new Response('<html>', { status: 200 });
      return mock.fetch(url, init);
    },
  });

  expect(observed.about.contradictions).toEqual(['the response to the key in the query was 401']);
  expect(observed.about.notObserved.optionsRequests).toBe('the response was 200');
});

/** Responds to quota as documented if the key is sent as Bearer, and with `status` to all other requests. */
function strangeService(status: number): ProbeFetch {
  const quota = { plan: 'gold', monthly_used: 3, rate_limit_per_minute: 30, resets_at: '2026-02-17T09:00:00.000Z' };
  return async (url, { method, headers }) => {
    const isPlain =
      method === 'GET' && url.endsWith('/quota') && headers['authorization'] === `Bearer ${'k'.repeat(20)}`;
    if (isPlain) return Response.json({ success: true, data: quota }, { headers: { 'x-my-ratelimit': '30' } });
    return new Response('<html>', { status, headers: { 'www-authenticate': 'Basic' } });
  };
}

test.each([401, 418, 500])('a response with %i, which no switch has, leaves the switch open', async (status) => {
  const observed = await probeService('https://strange.test', {
    apiKey: 'k'.repeat(20),
    fetch: strangeService(status),
    clock: createMockServer({ clock: 'virtual' }).clock,
  });

  const { notObserved, contradictions } = observed.about;
  const isAuthentication = status === 401;
  expect(notObserved).toMatchObject({
    missingKey: `the response was ${status}, which is not a value of this switch`,
    unknownKey: 'the key does not have the documented form',
    methodNotAllowed: `the response to POST was ${status}`,
    headRequests: `the response was ${status}`,
    optionsRequests: `the response was ${status}`,
    badParameter: `the response to base=XXX was ${status}`,
    snapshotGranularity: 'the quota record has no valid snapshot_granularity',
    rateHeaders: 'the response has other headers: x-my-ratelimit',
    keyPrefix: 'the key does not have the documented form',
    unlimitedAs: 'the key belongs to the gold plan',
    ...(isAuthentication
      ? { wwwAuthenticate: 'the challenge names a scheme other than Bearer' }
      : { unknownRoute: `the response was ${status}`, severalCredentials: `the response was ${status}` }),
  });
  expect(contradictions).toEqual([
    `the response to the bare key in the Authorization header was ${status}`,
    `the response to the key in the query was ${status}`,
  ]);
});

test.each<[what: string, change: (url: string, init: RequestInit) => ResponseInit | undefined, open: object]>([
  [
    'HEAD is refused',
    (_, { method }) => (method === 'HEAD' ? { status: 405 } : undefined),
    { cors: 'the response to HEAD was 405' },
  ],
  [
    'only some 401 have a challenge',
    (_, { headers }) => (new Headers(headers).has('authorization') ? undefined : { status: 401 }),
    { wwwAuthenticate: 'the responses differ' },
  ],
])('observes nothing that is uncertain because %s', async (_, change, open) => {
  const { mock, key } = mockAndProbe({});
  const fetch: ProbeFetch = async (url, init) => {
    const changed = change(url, init);
    return changed === undefined ? mock.fetch(url, init) : new Response(null, changed);
  };

  expect((await probeService(mock.baseUrl, { apiKey: key, clock: mock.clock, fetch })).about.notObserved).toMatchObject(
    open,
  );
});

const proxyFailure = Object.assign(new Error('the proxy p:1 cannot be reached', { cause: new Error('ECONNREFUSED') }), {
  name: 'ProxyFailure',
});

test.each([
  [new TypeError('failed', { cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) }), 'ECONNREFUSED'],
  [new TypeError('failed'), 'failed'],
  [new TypeError('failed', { cause: proxyFailure }), 'the proxy p:1 cannot be reached'],
  ['down', "'down'"],
  [Object.create(null), '[Object: null prototype] {}'],
])('the reason of a failed request is that of its deepest cause: %s', async (thrown, why) => {
  const { mock, key } = mockAndProbe({});
  const fetch: ProbeFetch = async (url, init) => {
    if (init.method === 'OPTIONS') throw thrown;
    return mock.fetch(url, init);
  };

  const baseUrl = new URL(`${mock.baseUrl}/`) as unknown as string;
  const { about } = await probeService(baseUrl, { apiKey: key, clock: mock.clock, fetch });

  expect(about.notObserved.optionsRequests).toBe(`the request failed: ${why}`);
});

test('the error of a request ends its step only, and is reported without the key', async () => {
  const { mock, key } = mockAndProbe({});
  const fetch: ProbeFetch = async (url, init) => {
    if (url.includes('api_key')) throw new TypeError('failed', { cause: new Error(`no route to ${url}`) });
    return mock.fetch(url, init);
  };

  const options = { apiKey: key, clock: mock.clock, fetch };
  const { about, ...observed } = await probeService(mock.baseUrl, options);

  expect(about.notObserved.severalCredentials).toMatch(/^the request failed: no route to .*\?api_key=not-a-key$/);
  expect(JSON.stringify(about)).not.toContain(key);
  expect(observed).toHaveProperty('optionsRequests');
});

test('a limit that is no number is not reached for', async () => {
  const { mock, key } = mockAndProbe({});
  const fetch: ProbeFetch = async (url, init) => {
    const response = await mock.fetch(url, init);
    const body = (await response.text()).replace(/("rate_limit_per_minute":)\d+/, '$1null');
    return new Response(body === '' ? null : body, response);
  };

  const { about } = await probeService(mock.baseUrl, { apiKey: key, clock: mock.clock, fetch, maxRequests: 90 });

  expect(about.requests).toBe(13);
});

test('reports a refusal with an empty Retry-After', async () => {
  const { mock, key } = mockAndProbe({});
  const error = { success: false, error: { code: 'rate_limited', message: '', status: 429 } };
  const fetch: ProbeFetch = async (url, init) =>
    init.method === 'OPTIONS'
      ? Response.json(error, { status: 429, headers: { 'retry-after': '' } })
      : mock.fetch(url, init);

  const { about } = await probeService(mock.baseUrl, { apiKey: key, clock: mock.clock, fetch });

  expect(about.contradictions).toEqual(['a 429 rate_limited had no number in Retry-After']);
});

test('a request without a response ends after timeoutMs, and is not sent again', async () => {
  const { mock, key } = mockAndProbe({});
  const { clock } = mock;
  const sent: string[] = [];
  const silentFor = (path: string) => (url: string, init: RequestInit) => {
    const pathname = new URL(url).pathname;
    sent.push(pathname);
    if (!pathname.endsWith(path)) return mock.fetch(url, init);
    return new Promise<Response>((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  };
  const start = clock.now();
  const options = { apiKey: key, clock, timeoutMs: 500 };

  await expect(probeService(mock.baseUrl, { ...options, fetch: silentFor('/quota') })).rejects.toThrow(
    'no response within 500 ms',
  );
  expect(sent).toEqual(['/api/v1/quota']);
  expect(clock.now() - start).toBe(500);

  sent.length = 0;
  const { about } = await probeService(mock.baseUrl, { ...options, fetch: silentFor('/latest') });
  expect(about.notObserved.badParameter).toBe('the request failed: no response within 500 ms');
  expect(about.notObserved).not.toHaveProperty('optionsRequests'); // a later step
  expect(sent.filter((path) => path === '/api/v1/latest')).toHaveLength(1);
});
