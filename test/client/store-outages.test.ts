import { expect, test } from 'vitest';
import type { FxRates } from '../../src/client/index.ts';
import { ApiKey } from '../../src/client/key/api-key.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { fakeFetch } from '../helpers/fake-fetch.ts';
import { MemoryLimitStore } from '../helpers/memory-limit-store.ts';
import { API_KEY, success } from '../helpers/service-replies.ts';
import { ask, StrictLimiter } from '../helpers/strict-limiter.ts';
import { BASE_URL, differentCalls, testClient } from '../helpers/test-client.ts';

const LIMIT =
  /^rateLimit\.store: the store failed \(connection refused\); until the store responds, this process limits itself$/;
const CACHE = /^cache: the store failed \(connection refused\)/;

/** A client with both kinds of store, which fail while `isDown`. */
function clientWithStores() {
  const clock = new FakeClock();
  const limit = new MemoryLimitStore(clock);
  const texts = new Map<string, string>();
  let isDown = false;
  const use = async <T>(work: () => T): Promise<T> => {
    if (isDown) throw new Error('connection refused');
    return work();
  };
  const store = {
    get: (name: string) => use(() => texts.get(name)),
    set: (name: string, text: string) => use(() => void texts.set(name, text)),
  };
  const setDown = (value: boolean) => {
    isDown = value;
    limit.health = value ? 'down' : 'up';
  };
  const options = { clock, rateLimit: { perMinute: 1_000, store: limit }, cache: { maxAgeMs: 60_000, store } };
  return { ...testClient(success(), { ...options, fetch: fakeFetch(success()) }), clock, setDown };
}

const ways: readonly [string, (fx: FxRates) => FxRates][] = [
  ['the same client', (fx) => fx],
  ['a client of withOptions() per call', (fx) => fx.withOptions({ timeoutMs: 5_000 })],
];

test.each(ways)('each outage of a store causes one warning per kind of store, with %s', async (_, clientOf) => {
  const { fx, clock, warnings, setDown } = clientWithStores();
  let call = 0;
  const callFive = async () => {
    for (let left = 5; left > 0; left -= 1) {
      call += 1;
      await clock.run(clientOf(fx).latest({ call }));
      await clock.advance(2_000);
    }
  };
  await callFive();

  for (const outage of [1, 2, 3]) {
    setDown(true);
    await callFive();
    expect(warnings.filter((text) => LIMIT.test(text))).toHaveLength(outage);
    expect(warnings.filter((text) => CACHE.test(text))).toHaveLength(outage);
    setDown(false);
    await callFive();
  }

  expect(warnings).toHaveLength(6);
});

test('an open client is warned of the outage of a store that a closed one used first', async () => {
  let get: () => Promise<undefined> = async () => undefined;
  const store = { get: () => get(), set() {} };
  const clock = new FakeClock();
  const clients = [0, 1].map(() => testClient(success(), { clock, cache: { maxAgeMs: 60_000, store } }));
  await clock.run(clients[0]!.fx.latest());
  await clients[0]!.fx.close();
  get = () => Promise.reject(new Error('connection refused'));

  await clock.run(clients[1]!.fx.latest());

  expect(clients.map(({ warnings }) => warnings.length)).toEqual([0, 1]);
  expect(clients[1]!.warnings[0]).toMatch(CACHE);
});

test('without the store, the warning about a long wait names the share of the process', async () => {
  const clock = new FakeClock();
  const store = new MemoryLimitStore(clock);
  const options = { clock, rateLimit: { perMinute: 20, store }, fetch: fakeFetch(success()) };
  const { fx, warnings } = testClient(success(), options);
  const other = new StrictLimiter({ clock, shared: { store, name: `${BASE_URL}#${ApiKey.from(API_KEY).hash}` } });
  ask(other, 1);
  await clock.run(fx.latest());
  store.health = 'down';

  await clock.run(Promise.all(differentCalls(fx, 20)));

  expect(warnings.filter((text) => !LIMIT.test(text))).toEqual([
    expect.stringMatching(
      /^11 calls of key \S+ wait for this process's share of its limit, 10 per minute; the last will be sent in about 2 /,
    ),
  ]);
});
