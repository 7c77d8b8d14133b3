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

async function underFakeTimers(scenario) {
  const clock = sinon.useFakeTimers();
  try {
    await scenario(clock);
  } finally {
    clock.restore();
  }
}

for (const { waitsFollow, virtualWaitsEnd, worksAfter } of builds.map(scenariosWith)) {
  await underFakeTimers((clock) => waitsFollow((ms) => clock.tickAsync(ms)));
  await underFakeTimers(() => virtualWaitsEnd());
  await underFakeTimers((clock) => worksAfter(() => clock.restore()));
}
