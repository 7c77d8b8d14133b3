import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FxRatesError } from '../../src/client/index.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { API_KEY, quotaRecord, success } from '../helpers/service-replies.ts';
import { testClient } from '../helpers/test-client.ts';

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

test('for any response, a call ends before its deadline with a value or a typed error', async () => {
  const headers = fc.record({ 'content-type': headerValue, date: headerValue, 'retry-after': headerValue });
  const response = fc.record({ status, body, headers, isQuota: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(response, async ({ status, body, headers, isQuota }) => {
      const hasBody = status !== 204 && status !== 205 && status !== 304;
      const reply = { status, headers: { ...headers, 'x-echo': API_KEY }, body: hasBody ? body : '' };
      const quota = isQuota ? reply : success(quotaRecord());
      const { fx, clock } = testClient(reply, { quota });
      const startedAt = clock.now();

      const ended = await clock.run(
        (isQuota ? fx.quota(LIMITED) : fx.latest({}, LIMITED)).withMeta().then(() => 'value', seen),
      );

      expect(ended).not.toContain(API_KEY);
      expect(clock.now() - startedAt).toBeLessThanOrEqual(LIMITED.deadlineMs);
      expect(await clock.left()).toBe(0);
    }),
    { numRuns: inLongRuns(500, 200) },
  );
});

/** All that an error shows; a failure of the test when it is a stranger. */
function seen(error: unknown): string {
  if (!FxRatesError.is(error)) throw new Error(`a stranger: ${inspect(error)}`);
  return inspect(error, { depth: 10, showHidden: true, maxStringLength: null });
}
