/** Runs with and without `fakeTimers: { enableGlobally: true }`, which fakes the timers before the package is loaded. */
const { scenariosWith } = require('./scenarios.cjs');

const { waitsFollow, virtualWaitsEnd, worksAfter } = scenariosWith({
  ...require('fxrates'),
  ...require('fxrates/mock-server'),
});

beforeEach(() => jest.useFakeTimers());

test('the waits of a real clock follow fake timers', () => waitsFollow((ms) => jest.advanceTimersByTimeAsync(ms)));
test('the waits of a virtual clock end without them', () => virtualWaitsEnd());
test('client and mock work after real timers return', () => worksAfter(() => jest.useRealTimers()));
