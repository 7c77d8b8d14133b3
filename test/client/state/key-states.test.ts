import { expect, test } from 'vitest';
import { resolveOptions } from '../../../src/client/config/settings.ts';
import type { FxRatesOptions } from '../../../src/client/index.ts';
import { ApiKey } from '../../../src/client/keys/api-key.ts';
import { KeyStates } from '../../../src/client/state/key-states.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { BASE_URL } from '../../helpers/test-client.ts';

const MINUTE_MS = 60_000;

function statesOf(options: FxRatesOptions): KeyStates {
  return new KeyStates(resolveOptions({ ...options, baseUrl: options.baseUrl ?? BASE_URL }));
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

test.each<[string, FxRatesOptions]>([
  ['another host', { baseUrl: 'https://other.test' }],
  ['another port', { baseUrl: 'https://fx.test:8443' }],
  ['another clock', { clock: new FakeClock() }],
  ['no queue', { rateLimit: false }],
])('clients with %s do not share', (_, options) => {
  const clock = new FakeClock();
  const key = ApiKey.from(API_KEY);

  expect(statesOf({ clock, ...options }).of(key)).not.toBe(statesOf({ clock }).of(key));
});

test('another key has another state', () => {
  const states = statesOf({ clock: new FakeClock() });

  expect(states.of(keyNumber(1))).not.toBe(states.of(keyNumber(2)));
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
  const permit = await state.limiter?.acquire();
  await clock.advance(11 * MINUTE_MS);

  for (let index = 1; index <= 1001; index += 1) states.of(keyNumber(index));

  expect(statesOf({ clock }).of(keyNumber(0))).toBe(state);
  permit?.ok();
});
