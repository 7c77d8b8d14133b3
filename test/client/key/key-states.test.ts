import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { resolveOptions } from '../../../src/client/config/settings.ts';
import type { FxRatesOptions } from '../../../src/client/index.ts';
import { ApiKey } from '../../../src/client/key/api-key.ts';
import { type KeyState, KeyStates, StateRegistry } from '../../../src/client/key/key-state.ts';
import { Lifetime } from '../../../src/client/lifetime.ts';
import { Permit } from '../../../src/client/limits/in-flight.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { BASE_URL } from '../../helpers/test-client.ts';

const MINUTE_MS = 60_000;

function statesOf(options: FxRatesOptions, lifetime = new Lifetime()): KeyStates {
  return new KeyStates(resolveOptions({ ...options, baseUrl: options.baseUrl ?? BASE_URL }), lifetime);
}

function keyNumber(index: number): ApiKey {
  return ApiKey.from(`fx_live_${String(index).padStart(48, '0')}`);
}

test('clients of one key at one host share its state, whatever their paths and options', () => {
  const clock = new FakeClock();
  const one = statesOf({ clock, baseUrl: 'https://fx.test/a' });
  const other = statesOf({ clock, baseUrl: 'https://fx.test/b', timeoutMs: 5 });

  expect(other.of(ApiKey.from(API_KEY))).toBe(one.of(ApiKey.from(API_KEY)));
});

test.each<[string, FxRatesOptions, ApiKey?]>([
  ['another host', { baseUrl: 'https://other.test' }],
  ['another port', { baseUrl: 'https://fx.test:8443' }],
  ['another clock', { clock: new FakeClock() }],
  ['no queue', { rateLimit: false }],
  ['another key', {}, keyNumber(1)],
])('clients with %s do not share', (_, options, key = ApiKey.from(API_KEY)) => {
  const clock = new FakeClock();

  expect(statesOf({ clock, ...options }).of(key)).not.toBe(statesOf({ clock }).of(ApiKey.from(API_KEY)));
});

test('two copies of the package in one process share the state of a key', async () => {
  const state = statesOf({}).of(keyNumber(0));
  vi.resetModules();
  const copy = await import('../../../src/client/key/key-state.ts');
  const { resolveOptions: resolve } = await import('../../../src/client/config/settings.ts');
  const settings = { ...resolve({}), baseUrl: BASE_URL };

  expect(copy.KeyStates).not.toBe(KeyStates);
  expect(new copy.KeyStates(settings).of(keyNumber(0))).toBe(state);
});

test('the shared states contain no full key, at any depth', () => {
  const key = keyNumber(5);
  statesOf({}).of(key);
  const shared = Object.getOwnPropertySymbols(globalThis).find(({ description }) =>
    description?.startsWith('fxrates.key-states'),
  )!;

  const shown = inspect(Reflect.get(globalThis, shared), { showHidden: true, depth: Number.POSITIVE_INFINITY });

  expect(Object.getOwnPropertyDescriptor(globalThis, shared)?.enumerable).toBe(false);
  expect(shown).toContain('StateRegistry');
  expect(shown).not.toContain(key.reveal());
});

test('removes the states of unused keys above a thousand', async () => {
  const clock = new FakeClock();
  const states = statesOf({ clock });
  const first = states.of(keyNumber(0));
  await clock.advance(11 * MINUTE_MS);

  for (let index = 1; index <= 1001; index += 1) states.of(keyNumber(index));

  expect(statesOf({ clock }).of(keyNumber(0))).not.toBe(first);
  expect(statesOf({ clock }).of(keyNumber(1))).toBe(states.of(keyNumber(1)));
});

test('does not remove the state of a key that another client uses', async () => {
  const clock = new FakeClock();
  const busy = statesOf({ clock });
  const key = keyNumber(0);
  for (let minute = 0; minute < 20; minute += 1) {
    busy.of(key);
    await clock.advance(MINUTE_MS);
  }

  const others = statesOf({ clock });
  for (let index = 1; index <= 1001; index += 1) others.of(keyNumber(index));

  expect(others.of(key)).toBe(busy.of(key));
});

test('a client whose key was removed while it was idle shares the new state', async () => {
  const clock = new FakeClock();
  const key = keyNumber(0);
  const idle = statesOf({ clock });
  idle.of(key);
  await clock.advance(11 * MINUTE_MS);
  const others = statesOf({ clock });
  for (let index = 1; index <= 1001; index += 1) others.of(keyNumber(index));

  expect(others.of(key)).toBe(idle.of(key));
});

test('does not remove the state of a key with a request in flight', async () => {
  const clock = new FakeClock();
  const states = statesOf({ clock });
  const state = states.of(keyNumber(0));
  const permit = await state.limiter.acquire();
  await clock.advance(11 * MINUTE_MS);

  for (let index = 1; index <= 1001; index += 1) states.of(keyNumber(index));

  expect(statesOf({ clock }).of(keyNumber(0))).toBe(state);
  if (permit instanceof Permit) permit.ok();
});

test('closing a client whose key was removed does not affect the new state of the key', async () => {
  const clock = new FakeClock();
  const lifetime = new Lifetime();
  statesOf({ clock }, lifetime).of(keyNumber(0));
  await clock.advance(11 * MINUTE_MS);
  const others = statesOf({ clock });
  for (let index = 1; index <= 1001; index += 1) others.of(keyNumber(index));
  const renewed = others.of(keyNumber(0));

  await lifetime.close();

  expect(statesOf({ clock }).of(keyNumber(0))).toBe(renewed);
});

test('the state of a key is removed with the last of its clients', async () => {
  const clock = new FakeClock();
  const lifetimes = [new Lifetime(), new Lifetime()] as const;
  const [state] = lifetimes.map((lifetime) => {
    const states = statesOf({ clock }, lifetime);
    states.of(keyNumber(1)); // held once, however often it is used
    states.of(keyNumber(2));
    return states.of(keyNumber(1));
  });
  await lifetimes[0].close();
  const held = statesOf({ clock }, lifetimes[1]).of(keyNumber(1));
  await lifetimes[1].close();

  expect(held).toBe(state);
  expect(statesOf({ clock }).of(keyNumber(1))).not.toBe(state);
});

test('a key is unused after ten minutes, and is looked for only when the number of keys has doubled', () => {
  const registry = new StateRegistry();
  let asked = 0;
  const busyAt = (usedAt: number) => () => {
    const limiter = {
      get isIdle() {
        asked += 1;
        return false;
      },
    };
    return { usedAt, limiter } as KeyState;
  };
  const add = (count: number, now: number) => {
    for (let key = 0; key < count; key += 1) registry.find(`${now} ${key}`, now, busyAt(now));
    return asked;
  };

  expect(add(1001, 0)).toBe(0);
  expect(add(1001, 10 * MINUTE_MS)).toBe(0); // 2,002 keys, twice as many as at the last sweep
  expect(add(1, 10 * MINUTE_MS + 1)).toBe(1001); // the first ones are older than ten minutes
  expect(add(2003, 10 * MINUTE_MS + 2)).toBe(1001);
  expect(add(1, 20 * MINUTE_MS)).toBe(2002); // the others are ten minutes old, and not older
});
