/** A program of its own, because a test runner in the same process stops with the defaults of sinon. */
import { createRequire } from 'node:module';
import * as client from 'fxrates';
import * as mockServer from 'fxrates/mock-server';
import sinon from 'sinon';
import { scenariosWith } from './scenarios.cjs';

const require = createRequire(import.meta.url);
const builds = [
  { ...client, ...mockServer },
  { ...require('fxrates'), ...require('fxrates/mock-server') },
];

async function underFakeTimers(scenario, toFake) {
  const clock = sinon.useFakeTimers(toFake === undefined ? {} : { toFake });
  try {
    await scenario(clock);
  } finally {
    clock.restore();
  }
}

const DATE = ['Date'];
const TIMERS = ['setTimeout', 'clearTimeout'];

for (const { waitsFollow, waitsEnd, virtualWaitsEnd, worksAfter } of builds.map(scenariosWith)) {
  await underFakeTimers(() => waitsEnd(), DATE);
  for (const toFake of [undefined, TIMERS]) {
    await underFakeTimers((clock) => waitsFollow((ms) => clock.tickAsync(ms)), toFake);
  }
  for (const toFake of [undefined, TIMERS, DATE]) {
    await underFakeTimers(() => virtualWaitsEnd(), toFake);
    await underFakeTimers((clock) => worksAfter(() => clock.restore()), toFake);
  }
}
