import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CallOptions, FxRatesError } from '../../src/client/index.ts';
import { quiet } from '../helpers/fake-clock.ts';
import type { Reply, SentRequest } from '../helpers/fake-fetch.ts';
import { API_KEY, exhaustedQuota, failure, quotaRecord, rateLimited, success } from '../helpers/service-replies.ts';
import { type TestClient, testClient } from '../helpers/test-client.ts';

/** One call of a run: its start, the time of its abort, and its possible results. */
interface PlannedCall {
  readonly query: number;
  readonly beginsAtMs: number;
  readonly abortsAfterMs: number | undefined;
  /** Gives up this many microtasks after the time above has come. */
  readonly abortsAfterTicks: number;
  readonly deadlineMs: number | false;
  readonly maxRetries: number;
  readonly onLimit: 'wait' | 'throw';
}

const call: fc.Arbitrary<PlannedCall> = fc.record({
  query: fc.nat(3),
  beginsAtMs: fc.nat(20_000),
  abortsAfterMs: fc.option(fc.oneof(fc.constant(0), fc.nat(30_000)), { nil: undefined }),
  abortsAfterTicks: fc.nat(12),
  deadlineMs: fc.oneof(fc.constant(90_000), fc.integer({ min: 1, max: 40_000 })),
  maxRetries: fc.nat(2),
  onLimit: fc.constantFrom('wait', 'wait', 'wait', 'throw'),
});

/** The response of the service to a request, and its latency. */
const response = fc.record({
  reply: fc.constantFrom<Reply>(
    success(),
    success(),
    success(),
    rateLimited('3'),
    rateLimited('20'),
    rateLimited(),
    failure(503),
    failure(401),
    failure(404),
    failure(402),
    new Error('socket hang up'),
    'never',
    'stalled body',
  ),
  tookMs: fc.nat(500),
});

const scenario = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 12 }),
  responses: fc.array(response, { minLength: 1, maxLength: 30 }),
  isExhausted: fc.boolean(),
  hasQueue: fc.boolean(),
  hasProvider: fc.boolean(),
});

type Outcome = typeof response extends fc.Arbitrary<infer T> ? T : never;
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

/** Plays a scenario in virtual time and holds what happens against what must always be so. */
class Run {
  readonly #problems: string[] = [];
  readonly #client: TestClient;
  readonly #signals: AbortSignal[] = [];
  /** A rotated key has a gate of its own, and without a queue there is none. */
  readonly #hasOneGate: boolean;
  #waiting = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #closedUntil = Number.NEGATIVE_INFINITY;

  constructor({ responses, isExhausted, hasQueue, hasProvider }: Scenario) {
    const queue = [...responses];
    let asked = 0;
    const apiKey = async () => {
      asked += 1;
      return `key-number-${asked}-of-the-provider`;
    };
    this.#hasOneGate = hasQueue && !hasProvider;
    this.#client = testClient((request) => this.#respond(queue.length > 1 ? queue.shift()! : queue[0]!, request), {
      timeoutMs: 10_000,
      logger: { warn: () => undefined },
      quota: success(isExhausted ? exhaustedQuota() : quotaRecord()),
      ...(hasQueue ? {} : { rateLimit: false }),
      ...(hasProvider ? { apiKey } : {}),
    });
  }

  async play({ calls }: Scenario): Promise<void> {
    const { fx, clock } = this.#client;
    await clock.run(Promise.all(calls.map((planned) => this.#call(planned))));
    await quiet();
    expect(this.#problems).toEqual([]);
    expect(await clock.left()).toBe(0);
    expect(fx.limits()?.inFlight ?? 0).toBe(0);
    expect(fx.limits()?.waiting ?? 0).toBe(0);
    for (const signal of this.#signals) expect(getEventListeners(signal, 'abort')).toEqual([]);
  }

  async #respond({ reply, tookMs }: Outcome, { signal }: SentRequest): Promise<Reply> {
    const { clock } = this.#client;
    const sentAt = clock.now();
    if (this.#waiting === 0) this.#problems.push('sent although no call waits');
    const earlyMs = this.#closedUntil - sentAt;
    if (this.#hasOneGate && earlyMs > 0) this.#problems.push(`sent ${earlyMs} ms before Retry-After had passed`);
    await clock.sleep(tookMs, signal);
    this.#noteRefusal(reply, sentAt);
    return reply;
  }

  /** A refusal of what was sent before the last one says nothing new (design/rate-limiter.md §2). */
  #noteRefusal(reply: Reply, sentAt: number): void {
    const { clock } = this.#client;
    if (typeof reply !== 'object' || !('status' in reply) || reply.status !== 429) return;
    const waitMs = Number(reply.headers?.['retry-after'] ?? 0) * 1000;
    if (sentAt < this.#refusedAt || waitMs === 0) return;
    this.#refusedAt = clock.now();
    this.#closedUntil = clock.now() + waitMs;
  }

  async #call({ query, beginsAtMs, abortsAfterMs, abortsAfterTicks, ...options }: PlannedCall): Promise<void> {
    const { fx, clock } = this.#client;
    await clock.sleep(beginsAtMs);
    const controller = new AbortController();
    this.#signals.push(controller.signal);
    const startedAt = clock.now();
    this.#waiting += 1;
    const ending = fx.latest({ query }, { signal: controller.signal, ...(options as CallOptions) }).then(
      () => 'success',
      (error: unknown) => (FxRatesError.is(error) ? error.kind : String(error)),
    );
    let abortedAt: number | undefined;
    const giveUp = async () => {
      if (abortsAfterMs === undefined) return;
      await clock.sleep(abortsAfterMs, controller.signal).catch(() => undefined);
      for (let tick = 0; tick < abortsAfterTicks; tick += 1) await undefined;
      abortedAt ??= clock.now();
      controller.abort();
    };
    const givingUp = giveUp();
    const kind = await ending;
    this.#waiting -= 1;
    const endedAt = clock.now();
    if (abortedAt !== undefined && endedAt > abortedAt)
      this.#problems.push(`${kind} ${endedAt - abortedAt} ms after its abort`);
    if (endedAt - startedAt > Number(options.deadlineMs)) this.#problems.push(`${kind} after its deadline`);
    if (!KINDS.includes(kind)) this.#problems.push(kind);
    controller.abort();
    await givingUp;
  }
}

const KINDS = [
  'success',
  'authentication',
  'rate_limited',
  'quota_exhausted',
  'request',
  'server',
  'network',
  'timeout',
  'aborted',
];

test('every call ends in time and leaves no timer or listener, for any failure or abort', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (planned) => {
      await new Run(planned).play(planned);
    }),
    { numRuns: 100 },
  );
});

/** Texts that a parser may stumble over, the key among them. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('', '0', '__proto__', 'rate_limited', '\u0000', '\ud800', `${API_KEY}`, `Bearer ${API_KEY}`),
);
const anything = fc.oneof(fc.jsonValue(), text, fc.constantFrom(null, -0, 1e308, [], {}, true));

/** Something like an envelope, whole or spoilt. */
const envelope = fc.record(
  {
    success: fc.oneof(fc.boolean(), anything),
    data: fc.oneof(fc.constant(quotaRecord()), anything),
    error: fc.oneof(fc.record({ code: anything, message: anything, status: anything }, { requiredKeys: [] }), anything),
  },
  { requiredKeys: [] },
);

const body = fc.oneof(
  text,
  anything.map((value) => JSON.stringify(value)),
  envelope.map((value) => JSON.stringify(value)),
  fc.tuple(envelope, fc.nat(60)).map(([value, length]) => JSON.stringify(value).slice(0, length)),
);
const status = fc.oneof(
  fc.constantFrom(200, 401, 402, 403, 404, 429, 429, 500, 503),
  fc.integer({ min: 200, max: 599 }),
);
/** What a header can hold at all. */
const headerValue = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) }),
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.array(fc.nat(), { maxLength: 4 }).map((numbers) => numbers.join(', ')),
);

/** Otherwise a call waits for as long as the service refuses it. */
const LIMITED = { deadlineMs: 90_000 };

test('a call ends before its deadline with a value or a typed error without the key, for any response', async () => {
  const headers = fc.record({ 'content-type': headerValue, date: headerValue, 'retry-after': headerValue });
  const response = fc.record({ status, body, headers, isQuota: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(response, async ({ status, body, headers, isQuota }) => {
      const hasBody = status !== 204 && status !== 205 && status !== 304;
      const reply = { status, headers: { ...headers, 'x-echo': API_KEY }, body: hasBody ? body : '' };
      const quota = isQuota ? reply : success(quotaRecord());
      const { fx, clock } = testClient(reply, { quota, logger: { warn: () => undefined } });
      const startedAt = clock.now();

      const ended = await clock.run(
        (isQuota ? fx.quota(LIMITED) : fx.latest({}, LIMITED)).withMeta().then(() => 'value', seen),
      );

      expect(ended).not.toContain(API_KEY);
      expect(clock.now() - startedAt).toBeLessThanOrEqual(LIMITED.deadlineMs);
      expect(await clock.left()).toBe(0);
    }),
    { numRuns: 500 },
  );
});

/** All that an error shows; a failure of the test when it is a stranger. */
function seen(error: unknown): string {
  if (!FxRatesError.is(error)) throw new Error(`a stranger: ${inspect(error)}`);
  return inspect(error, { depth: 10, showHidden: true, maxStringLength: null });
}
