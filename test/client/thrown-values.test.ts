import { expect, onTestFinished, test, vi } from 'vitest';
import { FxRatesError, type FxRatesOptions } from '../../src/client/index.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

function fail(): never {
  throw new Error('reading the value throws');
}

function errorWith(property: string): Error {
  return Object.defineProperty(new Error('odd'), property, { get: fail });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Values that a function of the program can throw, and that cannot be read like an error. */
const ODD_VALUES: Readonly<Record<string, () => unknown>> = {
  'an object without a prototype': () => Object.create(null),
  'a throwing toString': () => ({ toString: fail }),
  'a throwing inspect': () => ({ [Symbol.for('nodejs.util.inspect.custom')]: fail }),
  'a throwing then': () => Object.defineProperty({}, 'then', { get: fail }),
  ...Object.fromEntries(
    ['name', 'message', 'stack', 'code', 'cause', 'digest'].map((name) => [
      `an error with ${name}`,
      () => errorWith(name),
    ]),
  ),
  'an error caused by a Proxy': () => new Error('odd', { cause: revoked() }),
  'a Proxy': () => new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail }),
  'a revoked Proxy': revoked,
  'a symbol': () => Symbol('odd'),
  undefined: () => undefined,
};

/** Functions of the program whose failure is a failure of the request. */
const TRANSPORTS: Readonly<Record<string, (thrown: () => unknown) => FxRatesOptions>> = {
  'fetch rejects': (thrown) => ({ fetch: () => Promise.reject(thrown()) }),
  'fetch throws': (thrown) => ({
    fetch: () => {
      throw thrown();
    },
  }),
  'fetch resolves': (thrown) => ({ fetch: async () => thrown() as Response }),
  'a body fails': (thrown) => ({
    fetch: async () => new Response(new ReadableStream({ pull: (stream) => stream.error(thrown()) })),
  }),
};

const ODD = Object.keys(ODD_VALUES);
const pairs = (places: object) => Object.keys(places).flatMap((place) => ODD.map((name) => [place, name] as const));

test.each(pairs(TRANSPORTS))('%s with %s: the call rejects with an FxRatesError', async (place, name) => {
  const options = TRANSPORTS[place]?.(ODD_VALUES[name] ?? fail);
  const { fx } = testClient(success(), { ...options, maxRetries: 0, clock: new FakeClock() });

  expect(FxRatesError.is(await errorOf(fx.latest()))).toBe(true);
});

/** Functions whose failure the client reports, and without which it continues. */
const OBSERVERS: Readonly<Record<string, (thrown: () => never) => FxRatesOptions>> = {
  'a hook': (thrown) => ({ onRequest: thrown }),
  'an async hook': (thrown) => ({ onRequest: async () => thrown() }),
  'a logger': (thrown) => ({ logLevel: 'debug', logger: { warn: thrown, info: thrown, debug: thrown } }),
  'a cache': (thrown) => ({ cache: { maxAgeMs: 1000, store: { get: thrown, set: thrown } } }),
};

test.each(pairs(OBSERVERS))('%s that throws %s is reported, and the call is served', async (place, name) => {
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  onTestFinished(() => warnings.mockRestore());
  const options = OBSERVERS[place]?.(() => {
    throw ODD_VALUES[name]?.();
  });
  const { fx } = testClient(success(), options);

  expect(await fx.latest()).toBeDefined();
  await new Promise(setImmediate); // an async hook rejects after the call

  expect(warnings).toHaveBeenCalled();
});

test.each(ODD)('a middleware that throws %s rejects the call with a value that can be read', async (name) => {
  const thrown = ODD_VALUES[name]?.();
  const middleware = [() => Promise.reject(thrown)];

  const text = await testClient(success(), { middleware })
    .fx.latest()
    .then(
      () => 'served',
      (error: unknown) => (error instanceof Error ? error.message : typeof error),
    );

  expect(text).toMatch(/^(odd|a value that cannot be read was thrown|object|symbol|undefined)$/);
});
