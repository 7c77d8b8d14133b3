import { expect, test } from 'vitest';
import type {
  FxRatesError,
  FxRatesOptions,
  Middleware,
  RequestEvent,
  StandardSchema,
} from '../../../src/client/index.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { API_KEY, failure, rateLimited, success } from '../../helpers/service-replies.ts';
import { errorOf, schemaOf, testClient, unhandledRejections } from '../../helpers/test-client.ts';

const pass: Middleware = (request, next) => next(request);

test('a middleware runs around each attempt of a call, with one callId', async () => {
  const seen: Partial<Parameters<Middleware>[0]>[] = [];
  const statuses: number[] = [];
  const note: Middleware = async (request, next) => {
    const { operation, attempt, callId, url, method, waitedMs } = request;
    seen.push({ operation, attempt, callId, url, method, waitedMs });
    const response = await next(request);
    statuses.push(response.status);
    return response;
  };
  const { fx, clock } = testClient([failure(503), rateLimited('2'), success({ EUR: 1 })], { middleware: [note] });

  expect(await clock.run(fx.latest({ base: 'EUR' }))).toEqual({ EUR: 1 });
  await fx.latest({ base: 'USD' });

  const url = 'https://fx.test/api/v1/latest?base=EUR';
  const waited = [0, 375, 2_000];
  expect(seen.slice(0, 3)).toMatchObject(
    waited.map((waitedMs, before) => ({ operation: 'latest', attempt: before + 1, url, method: 'GET', waitedMs })),
  );
  expect(statuses).toEqual([503, 429, 200, 200]);
  expect(new Set(seen.slice(0, 3).map(({ callId }) => callId)).size).toBe(1);
  expect(seen[3]?.callId).not.toBe(seen[0]?.callId);
});

test('the first middleware is the outermost', async () => {
  const order: string[] = [];
  const named =
    (name: string): Middleware =>
    async (request, next) => {
      order.push(`${name} before`);
      const response = await next(request);
      order.push(`${name} after`);
      return response;
    };
  const { fx } = testClient(success(), { middleware: [named('outer'), named('inner')] });

  await fx.latest();

  expect(order).toEqual(['outer before', 'inner before', 'inner after', 'outer after']);
});

test.each(['bearer', 'header', 'query'] as const)('the request of a middleware has no key (%s)', async (auth) => {
  let shown = '';
  const look: Middleware = (request, next) => {
    shown = `${request.url} ${JSON.stringify([...request.headers])}`;
    return next(request);
  };
  const { fx, fetch } = testClient(success(), { auth, middleware: [look] });

  await fx.latest();

  expect(shown).not.toContain(API_KEY);
  expect(JSON.stringify(fetch.requests[0])).toContain(API_KEY);
});

test('a middleware can add headers, parameters and a signature made with the key', async () => {
  const sign: Middleware = (request, next) => {
    request.headers.set('x-signature', `${request.revealKey().length}:${new URL(request.url).pathname}`);
    return next({ ...request, url: `${request.url}?via=test` });
  };
  const { fx, fetch } = testClient(success(), { middleware: [sign] });

  await fx.latest();

  const { url, headers } = fetch.requests[0]!;
  expect(url).toBe('https://fx.test/api/v1/latest?via=test');
  expect(headers).toMatchObject({
    'x-signature': `${API_KEY.length}:/api/v1/latest`,
    authorization: `Bearer ${API_KEY}`,
  });
});

test.each([
  ['as a URL object', (url: string) => new URL(`${url}?via=test`) as never, 'via=test'],
  ['with a fragment, which is not sent, so that the key is not part of it', (url: string) => `${url}?a=1#part`, 'a=1'],
  ['with an empty fragment', (url: string) => `${url}?a=1#`, 'a=1'],
])('a middleware can set the URL %s', async (_, change, query) => {
  const via: Middleware = (request, next) => next({ ...request, url: change(request.url) });
  const { fx, fetch } = testClient(success(), { auth: 'query', middleware: [via] });

  await fx.latest();

  expect(fetch.requests[0]?.url).toBe(`https://fx.test/api/v1/latest?${query}&api_key=${API_KEY}`);
});

test.each([
  ['another host', withUrl(() => 'https://evil.test/'), /cannot be sent to https:\/\/evil.test/],
  ['its own key', withHeader('authorization', 'Bearer other'), /^middleware: 'authorization' cannot be set.*apiKey/],
  [
    'its own user of a proxy',
    withHeader('proxy-authorization', 'Basic x'),
    /^middleware: 'proxy-authorization' cannot/,
  ],
  ['a host of its own', withHeader('host', 'evil.test'), /^middleware: 'host' cannot be set/],
  ['a key in the URL', withUrl((url) => `${url}?API_key=x`), /^middleware: 'api_key' cannot be set/],
  ['a relative URL', withUrl(() => '/api/v1/latest'), /called with '\/api\/v1\/latest', which is not an absolute URL/],
])('a middleware cannot send the request to or with %s', async (_, change, message) => {
  const { fx, fetch } = testClient(success(), { middleware: [(request, next) => next(change(request))] });

  const error = await errorOf(fx.latest());

  expect(error).toMatchObject({ kind: 'config', message: expect.stringMatching(message) });
  expect(fetch.requests).toEqual([]);
});

function withUrl(change: (url: string) => string) {
  return (request: Parameters<Middleware>[0]) => ({ ...request, url: change(request.url) });
}

function withHeader(name: string, value: string) {
  return (request: Parameters<Middleware>[0]) => ({ ...request, headers: new Headers({ [name]: value }) });
}

test('a middleware can return its own response, and read and replace that of the service', async () => {
  const stub: Middleware = async () => Response.json({ success: true, data: { from: 'stub' } });
  const stubbed = testClient(success(), { middleware: [stub] });
  const double: Middleware = async (request, next) => {
    const { data } = (await (await next(request)).json()) as { data: { EUR: number } };
    return Response.json({ success: true, data: { EUR: 2 * data.EUR } });
  };
  const doubled = testClient(success({ EUR: 1.5 }), { middleware: [double] });
  expect(await stubbed.fx.latest()).toEqual({ from: 'stub' });
  expect(stubbed.fetch.requests).toEqual([]);
  expect(await doubled.fx.latest()).toEqual({ EUR: 3 });
});

test('an error of a middleware rejects the call unchanged, without a retry', async () => {
  const bug = Object.assign(new TypeError('a bug'), { status: 500, code: 'E_BUG' });
  const ended: RequestEvent[] = [];
  const { fx, fetch } = testClient(success(), {
    onRequest: (event) => ended.push(event),
    middleware: [
      () => {
        throw bug;
      },
    ],
  });

  expect(await errorOf(fx.latest())).toBe(bug);
  expect(fetch.requests).toEqual([]);
  expect(ended).toMatchObject([{ status: undefined, code: undefined }]); // both would be of the service
});

const OF_OTHERS: [string, (error: unknown) => FxRatesOptions & { readonly schema?: StandardSchema }][] = [
  ['a middleware', (error) => ({ middleware: [() => Promise.reject(error)] })],
  [
    'a middleware after its request',
    (error) => ({ middleware: [(...sent) => pass(...sent).then(() => Promise.reject(error))] }),
  ],
  ['a schema', (error) => ({ schema: schemaOf(() => Promise.reject(error)) })],
];

test.each(
  OF_OTHERS.flatMap(([name, throwing]) => [
    [name, 'without a response', new Error('gone'), throwing] as const,
    [name, '401', failure(401), throwing] as const,
    [name, '503', failure(503), throwing] as const,
    [name, '429', rateLimited('70'), throwing] as const,
  ]),
)('an error of another client that %s throws rejects the call unchanged: %s', async (_, __, reply, throwing) => {
  const other = testClient(reply, { maxRetries: 0, onLimit: 'throw' });
  const thrown = (await other.clock.run(errorOf(other.fx.latest()))) as FxRatesError;
  thrown.stack = 'its own stack';
  const [{ stack, callId }, statuses]: [FxRatesError, unknown[]] = [thrown, []];
  const { schema, ...options } = throwing(thrown);
  let keys = 0;
  const { fx, fetch, clock } = testClient([success({ old: 1 }), success()], {
    ...{
      cache: { maxAgeMs: 1, staleIfErrorMs: 1e6, staleIfLimitedMs: 1e6 },
      onRequest: ({ status }) => statuses.push(status),
    },
    apiKey: () => {
      keys += 1;
      return API_KEY;
    },
  });
  await fx.latest();
  await clock.advance(10);

  const error = (await clock.run(errorOf(fx.withOptions(options).latest({}, { schema } as never)))) as FxRatesError;

  expect(error).toBe(thrown);
  expect([error.stack, error.callId]).toEqual([stack, callId]);
  expect([keys, statuses.length]).toEqual([1, 2]);
  expect(fetch.requests.length).toBeLessThanOrEqual(2);
  expect(fx.limits()).toMatchObject({ service: 'up' });
});

test.each<[string, Middleware]>([
  ['reads it', async (request, next) => new Response(await (await next(request)).text())],
  [
    'reads its clone',
    async (request, next) => {
      const response = await next(request);
      await response.clone().json();
      return response;
    },
  ],
  ['returns its clone', async (request, next) => (await next(request)).clone()],
  [
    'returns it in a new response',
    async (request, next) => {
      const response = await next(request);
      return new Response(response.body, response);
    },
  ],
  ['returns it', pass],
])('the error of a body is that of the client if a middleware %s', async (_, middleware) => {
  const long = { body: JSON.stringify({ success: true, data: { text: 'x'.repeat(2_000) } }) };
  const latin1 = async () => new Response(Buffer.from('{"success":true,"data":{"city":"Z\xfcrich"}}', 'latin1'));
  const options = { middleware: [middleware], maxResponseBytes: 1_000 };

  const errors = [
    await errorOf(testClient(long, options).fx.latest()),
    await errorOf(testClient([], { ...options, fetch: latin1 }).fx.latest()),
  ];

  expect(errors).toMatchObject([
    { kind: 'response', message: expect.stringContaining('longer than 1000 bytes (HTTP 200); maxResponseBytes') },
    { kind: 'response', message: expect.stringContaining('The body is not UTF-8') },
  ]);
});

test('a middleware receives the errors of the client, and the call is retried', async () => {
  const kinds: unknown[] = [];
  const note: Middleware = (request, next) =>
    next(request).catch((error: FxRatesError) => {
      kinds.push(error.kind);
      throw error;
    });
  const { fx, clock } = testClient([new TypeError('fetch failed'), success({ EUR: 1 })], { middleware: [note] });

  expect(await clock.run(fx.latest())).toEqual({ EUR: 1 });
  expect(kinds).toEqual(['network']);
});

test('a next() after the end of the attempt sends nothing, and rejects with the reason', async () => {
  const kinds: unknown[] = [];
  const late: Middleware = async (request, next) => {
    await clock.sleep(1_000);
    return next(request).catch((error: FxRatesError) => {
      kinds.push(error.kind);
      throw error;
    });
  };
  const { fx, clock, fetch } = testClient(success(), { middleware: [late], timeoutMs: 500, maxRetries: 0 });
  const controller = new AbortController();
  const aborted = errorOf(fx.latest({ call: 1 }, { signal: controller.signal }));
  const timedOut = errorOf(fx.latest({ call: 2 }));
  await quiet();

  controller.abort();
  await clock.advance(1_000);

  expect([await aborted, await timedOut]).toMatchObject([{ kind: 'aborted' }, { kind: 'timeout' }]);
  expect(kinds).toEqual(['aborted', 'timeout']);
  expect(fetch.requests).toEqual([]);
});

test('a header that a middleware changes is the one that the client reads', async () => {
  const shorter: Middleware = async (request, next) => {
    const response = await next(request);
    response.headers.set('retry-after', '1');
    response.headers.set('x-request-id', 'of the middleware');
    return response;
  };
  const { fx, clock } = testClient([rateLimited('30'), success()], { middleware: [shorter] });
  const startedAt = clock.now();

  const { meta } = await clock.run(fx.latest().withMeta());

  expect(clock.now() - startedAt).toBeLessThan(5_000);
  expect(meta.requestId).toBe('of the middleware');
});

test('a next() after the middleware has returned sends nothing, because no limit would count it', async () => {
  const late: unknown[] = [];
  const revalidating: Middleware = async (request, next) => {
    void clock.sleep(20).then(() => next(request).catch((error: unknown) => late.push(error)));
    return Response.json(success({ from: 'cache' }).body);
  };
  const { fx, clock, fetch } = testClient(success(), { middleware: [revalidating] });

  expect(await clock.run(fx.latest())).toEqual({ from: 'cache' });
  await clock.advance(20);

  expect(late).toMatchObject([{ kind: 'config' }]);
  expect(fetch.requests).toEqual([]);
});

test.each([0, 400])(
  'timeoutMs ends a request for which its middleware does not wait, sent after %d ms',
  async (sentAfterMs) => {
    const kinds: unknown[] = [];
    const fallback: Middleware = async (request, next) => {
      await clock.sleep(sentAfterMs);
      next(request).catch((error: FxRatesError) => kinds.push(error.kind));
      await clock.sleep(50);
      return Response.json(success({ from: 'fallback' }).body);
    };
    const { fx, clock, fetch } = testClient('never', { middleware: [fallback], timeoutMs: 500 });
    const startedAt = clock.now();

    expect(await clock.run(fx.latest())).toEqual({ from: 'fallback' });
    await clock.advance(startedAt + 499 - clock.now());
    expect([kinds, fetch.requests[0]?.signal.aborted]).toEqual([[], false]);
    await clock.advance(1);

    expect([kinds, fetch.requests[0]?.signal.aborted]).toEqual([['timeout'], true]);
  },
);

test.each([[[]], [[pass]]])(
  'a next() without await leaves no unhandled rejection, with %j behind it',
  async (others) => {
    const unhandled = unhandledRejections();
    const forgetful: Middleware = async (request, next) => {
      void next(request);
      return Response.json(success({ from: 'fallback' }).body);
    };
    const { fx, clock } = testClient('never', { middleware: [forgetful, ...others], timeoutMs: 500 });

    expect(await clock.run(fx.latest())).toEqual({ from: 'fallback' });
    await clock.advance(500);
    await quiet();

    expect(unhandled).toEqual([]);
  },
);

test.each<[string, ResponseInit & { readonly body?: string }, string]>([
  ['no content', { status: 204 }, 'response'],
  ['a body that is too long', { body: 'x'.repeat(2_000) }, 'response'],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.test/' } }, 'response'],
])('passes on %s unchanged', async (_, reply, kind) => {
  const respond = () => new Response(reply.status === 204 ? null : (reply.body ?? ''), reply);
  const { fx } = testClient(respond, { middleware: [pass], maxResponseBytes: 1_000 });
  const plain = testClient(respond, { maxResponseBytes: 1_000 });

  const [error, expected] = [await errorOf(fx.latest()), await errorOf(plain.fx.latest())];

  expect(error).toMatchObject({ kind });
  expect((error as Error).message).toBe((expected as Error).message);
});

test.each([
  [200, true],
  [299, true],
  [404, false],
  [599, false],
  [600, false],
  [999, false],
])('a middleware receives the status %i of the service, with ok: %j', async (status, ok) => {
  // `Response` accepts no status above 599; a socket does.
  const reply = () => Object.defineProperty(Response.json({ success: true, data: {} }), 'status', { value: status });
  const seen: unknown[] = [];
  const note: Middleware = async (request, next) => {
    const response = await next(request);
    seen.push([response.status, response.ok]);
    return response;
  };
  const kinds: unknown[] = [];
  for (const middleware of [[], [note]]) {
    const { fx } = testClient(reply, { middleware, maxRetries: 0 });
    kinds.push(await fx.latest().catch((error: unknown) => String(error)));
  }

  expect(seen).toEqual([[status, ok]]);
  expect(kinds[1]).toEqual(kinds[0]);
});

test.each<[string, Middleware]>([
  ['after a response', async (request, next) => ((await next(request)).ok ? next(request) : next(request))],
  ['after an error', async (request, next) => next(request).catch(() => next(request))],
  ['at once', async (request, next) => (await Promise.all([next(request), next(request)]))[0] as Response],
])('an attempt sends one request: a second next() %s is a ConfigError', async (when, again) => {
  const replies = when === 'after an error' ? [new Error('socket hang up'), success()] : [failure(503), success()];
  const { fx, fetch } = testClient(replies, { middleware: [pass, again] });

  const error = await errorOf(fx.latest());

  expect(error).toMatchObject({
    kind: 'config',
    message: expect.stringMatching(/next\(\) was called twice.*maxRetries/),
  });
  expect(fetch.requests).toHaveLength(1);
  expect(fx.limits()).toMatchObject({ inFlight: 0 });
});

const reading: Middleware = async (request, next) => {
  const response = await next(request);
  await response.text();
  return response;
};
const forgetful: Middleware = (_request, next) => (next as () => Promise<Response>)();

test.each<[string, Middleware, string]>([
  ['returns no response', (async () => undefined) as never, 'expected it to return a Response'],
  ['returns a response that it has read', reading, 'read response.clone()'],
  ['calls next() without the request', forgetful, 'pass the one of the middleware: next(request)'],
])('a middleware that %s is a ConfigError with the next step', async (_, middleware, message) => {
  const { fx } = testClient(success(), { middleware: [middleware] });

  expect(await errorOf(fx.latest())).toMatchObject({ kind: 'config', message: expect.stringContaining(message) });
});

test('a middleware sees no header of a response that contains the key', async () => {
  const seen: string[] = [];
  const look: Middleware = async (request, next) => {
    const response = await next(request);
    seen.push(...[...response.headers].flat());
    return response;
  };
  const redirect = { status: 302, headers: { location: `https://other.test/?api_key=${API_KEY}` } };
  const { fx } = testClient(redirect, { middleware: [look] });

  expect(await errorOf(fx.latest())).toMatchObject({ status: 302 });
  expect(seen).toContain('https://other.test/?api_key=fx_live_...cdef');
  expect(seen.join()).not.toContain(API_KEY);
});

test('a middleware that does not call next() leaves it to later middleware', async () => {
  const cached: Middleware = async () => Response.json({ success: true, data: { EUR: 1 } });
  const twice: Middleware = async (request, next) => (await next(request)) && next(request);
  const { fx, fetch } = testClient(success(), { middleware: [twice, cached] });

  expect(await fx.latest()).toEqual({ EUR: 1 });
  expect(fetch.requests).toHaveLength(0);
});
