import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { FxRates } from '../../src/client/index.ts';
import { FakeClock, quiet } from '../helpers/fake-clock.ts';
import { API_KEY, failure, success } from '../helpers/service-replies.ts';
import { BASE_URL, testClient } from '../helpers/test-client.ts';

test('shows where it sends and a mask of the key', async () => {
  const { fx } = testClient(success());

  expect(JSON.stringify(fx)).toBe(`{"baseUrl":"${BASE_URL}","apiKey":"fx_live_…cdef"}`);
  expect(inspect(fx)).toBe(`FxRates { baseUrl: '${BASE_URL}', apiKey: 'fx_live_…cdef' }`);
});

test("shows the mask of a provider's key only after the first call", async () => {
  const { fx } = testClient(success(), { apiKey: async () => API_KEY });

  expect(fx.toJSON()).toMatchObject({ apiKey: 'from a function' });
  expect(fx.limits()).toBeUndefined();
  await fx.latest();

  expect(fx.toJSON()).toMatchObject({ apiKey: 'fx_live_…cdef' });
  expect(fx.limits()).toMatchObject({ gate: 'open', inFlight: 0 });
});

test('a new client sends nothing and waits for nothing', async () => {
  const clock = new FakeClock();

  new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY, clock });
  await quiet();

  expect(clock.sleeps).toEqual([]);
});

test('a call is sent whether or not its promise is awaited', async () => {
  const { fx, fetch } = testClient(success());

  void fx.latest();
  await quiet();

  expect(fetch.requests).toHaveLength(1);
});

test('the attempts of an error do not change when other callers continue the request', async () => {
  const { fx, clock } = testClient([failure(503), success({ EUR: 1 })]);
  const hasty = fx.latest({}, { deadlineMs: 100 }).catch((error: unknown) => error);
  const patient = fx.latest({}, { deadlineMs: 10_000 });
  await clock.advance(100);
  const { attempts } = (await hasty) as { attempts: readonly unknown[] };
  expect(attempts).toHaveLength(1);

  await clock.run(patient);

  expect(attempts).toHaveLength(1);
});
