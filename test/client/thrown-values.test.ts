import { expect, onTestFinished, test, vi } from 'vitest';
import { FxRatesError, type FxRatesOptions } from '../../src/client/index.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

/** Values other than errors that a function of the program can throw. */
const ODD_VALUES: Readonly<Record<string, unknown>> = {
  'a text': 'odd',
  'an object': { odd: true },
  'an object without a prototype': Object.create(null),
  'a symbol': Symbol('odd'),
  undefined: undefined,
};

/** Functions of the program whose failure is a failure of the request. */
const TRANSPORTS: Readonly<Record<string, (thrown: unknown) => FxRatesOptions>> = {
  'fetch rejects': (thrown) => ({ fetch: () => Promise.reject(thrown) }),
  'fetch throws': (thrown) => ({
    fetch: () => {
      throw thrown;
    },
  }),
  'fetch resolves': (thrown) => ({ fetch: async () => thrown as Response }),
  'a body fails': (thrown) => ({
    fetch: async () => new Response(new ReadableStream({ pull: (stream) => stream.error(thrown) })),
  }),
};

const ODD = Object.keys(ODD_VALUES);
const pairs = (places: object) => Object.keys(places).flatMap((place) => ODD.map((name) => [place, name] as const));

test.each(pairs(TRANSPORTS))('%s with %s: the call rejects with an FxRatesError', async (place, name) => {
  const options = TRANSPORTS[place]?.(ODD_VALUES[name]);
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
    throw ODD_VALUES[name];
  });
  const { fx } = testClient(success(), options);

  expect(await fx.latest()).toBeDefined();
  await new Promise(setImmediate); // an async hook rejects after the call

  expect(warnings).toHaveBeenCalled();
});

test.each(ODD)('a middleware that throws %s rejects the call with that value', async (name) => {
  const thrown = ODD_VALUES[name];

  expect(await errorOf(testClient(success(), { middleware: [() => Promise.reject(thrown)] }).fx.latest())).toBe(thrown);
});
