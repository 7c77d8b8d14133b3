/** Runs with and without `fakeTimers: { enableGlobally: true }`, which fakes the timers before the package is loaded. */
const { scenariosWith } = require('./scenarios.cjs');

const { waitsFollow, waitsEnd, virtualWaitsEnd, worksAfter } = scenariosWith({
  ...require('fxrates'),
  ...require('fxrates/mock-server'),
});

const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'];
const OTHERS = ['nextTick', 'queueMicrotask', 'hrtime', 'performance'];
const CASES = [
  ['all', {}],
  ['timers alone', { doNotFake: ['Date', ...OTHERS] }],
  ['Date alone', { doNotFake: [...TIMERS, ...OTHERS] }],
];

afterEach(() => jest.useRealTimers());

test.each(CASES.slice(0, 2))('the waits of a real clock follow fake timers: %s', async (_, options) => {
  jest.useFakeTimers(options);
  await waitsFollow((ms) => jest.advanceTimersByTimeAsync(ms));
});

test('the waits of a real clock end with a date that stands still', async () => {
  jest.useFakeTimers({ doNotFake: [...TIMERS, ...OTHERS] });
  await waitsEnd();
});

test.each(CASES)('the waits of a virtual clock end without them: %s', async (_, options) => {
  jest.useFakeTimers(options);
  await virtualWaitsEnd();
});

test.each(CASES)('client and mock work after real timers return: %s', async (_, options) => {
  jest.useFakeTimers(options);
  await worksAfter(() => jest.useRealTimers());
});
