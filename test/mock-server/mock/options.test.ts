import { expect, test } from 'vitest';
import { createMockServer, type MockServer, MockServerError } from '../../../src/mock-server/index.ts';

const cyclic: { self?: object } = {};
cyclic.self = cyclic;

test.each([
  [{ behavior: {} }, 'behavior is not an option of createMockServer; did you mean behaviour? Valid names: seed, clock'],
  [{ ['x'.repeat(101)]: 1 }, 'is not an option of createMockServer; valid names: seed'],
  [{ sede: 1 }, 'sede is not an option of createMockServer; did you mean seed? Valid names: seed, clock, behaviour'],
  [{ state: '' }, 'state is ""; expected the path of a file.'],
  [{ state: 7 }, 'state is 7; expected the path of a file.'],
  [{ seed: 1.5 }, 'seed is 1.5; expected a whole number from 0.'],
  [{ seed: '7' }, 'seed is "7"; expected a whole number from 0.'],
  [{ seed: cyclic }, 'seed is a value of type object'],
  [{ seed: () => 1 }, 'seed is a function'],
  [{ seed: 'x'.repeat(500) }, /^seed is "x{76}\.\.\.; expected/],
  [{ journalSize: -1 }, 'journalSize is -1'],
  [{ behaviour: 'x' }, 'behaviour is "x"; expected a preset (documented, lenient, hostile) or an object of switches.'],
  [{ behaviour: null }, 'behaviour is null'],
  [{ rules: { delayMs: 1 } }, 'rules is {"delayMs":1}; expected an array.'],
  [null, 'options is null; expected an object.'],
  ['virtual', 'options is "virtual"; expected an object.'],
  [{ onAssumption: 'throw' }, "onAssumption is \"throw\"; expected 'ignore', 'warn' or 'error'."],
  [{ clock: 'frozen' }, "clock is \"frozen\"; expected 'real', 'virtual' or { mode, now, autoAdvance, frozen }."],
  [{ clock: { mode: 'fast' } }, 'clock.mode is "fast"'],
  [
    { clock: { mode: 'real', at: 0 } },
    'clock.at is not a field of clock; valid names: mode, now, autoAdvance, frozen.',
  ],
  [{ clock: { mode: 'virtual', autoAdvance: 1 } }, 'clock.autoAdvance is 1; expected true or false.'],
  [{ clock: { mode: 'real', frozen: 'yes' } }, 'clock.frozen is "yes"; expected true or false.'],
  [{ clock: { mode: 'real', now: 'noon' } }, 'clock.now is "noon"; expected a Date, an ISO 8601 date or time'],
  [{ clock: { mode: 'real', now: new Date(Number.NaN) } }, 'clock.now is null'],
  [{ clock: { mode: 'real', now: -1 } }, 'clock.now is -1'],
  [{ baseUrl: 'fxrates.test' }, 'baseUrl is "fxrates.test"; expected an http or https origin'],
  [{ baseUrl: 'https://fxrates.test/api' }, 'baseUrl is "https://fxrates.test/api"'],
  [{ baseUrl: 'ftp://fxrates.test' }, 'baseUrl is "ftp://fxrates.test"'],
  [{ baseUrl: 'https://user@fxrates.test' }, 'baseUrl is'],
  [{ baseUrl: `https://x.test/?api_key=fx_live_${'a1'.repeat(24)}` }, '_live_…"; expected'],
])('%j is refused by name', (options, message) => {
  const create = () => createMockServer(options as never);

  expect(create).toThrow(MockServerError);
  expect(create).toThrow(message);
  expect(create).toThrow(expect.objectContaining({ code: 'invalid_option' }));
});

const unknownOptions: [string, (mock: MockServer, options: never) => unknown][] = [
  ['createKey', (mock, options) => mock.createKey(options)],
  ['accounts.create', (mock, options) => mock.accounts.create(options)],
  ['keys.create', (mock, options) => mock.keys.create(options)],
  ['keys.list', (mock, options) => mock.keys.list(options)],
  ['space', (mock, options) => mock.space(options)],
  ['latest.set', (mock, options) => mock.latest.set({}, options)],
  ['latest.reset', (mock, options) => mock.latest.reset(options)],
  ['waitFor', (mock, options) => mock.journal.waitFor({ after: 0 }, options)],
];

test.each(unknownOptions)('an unknown option of %s() is refused by name', async (name, call) => {
  const mock = createMockServer();
  const { key } = mock.createKey();
  await mock.fetch(mock.baseUrl, { headers: { authorization: key } });
  const before = mock.snapshot().accounts;

  const calls = [{ plam: 'developer' }, 'developer'].map(async (options) => await call(mock, options as never));

  await expect(calls[0]).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(`^plam is not an option of .*${name}\\(\\)`),
  });
  await expect(calls[1]).rejects.toThrow('options is "developer"; expected an object.');
  expect(mock.snapshot().accounts).toEqual(before);
});

test('without options there is a mock in real time', () => {
  const mock = createMockServer();

  expect([mock.baseUrl, mock.clock.mode, mock.journal.list()]).toEqual(['https://fxrates.test', 'real', []]);
});

test('ignores options that are undefined', () => {
  expect(() => createMockServer({ seed: undefined, clock: undefined, behaviour: undefined })).not.toThrow();
});
