import { afterEach, mock, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as client from 'fxrates';
import * as mockServer from 'fxrates/mock-server';
import { scenariosWith } from './scenarios.cjs';

const { waitsFollow, virtualWaitsEnd, worksAfter } = scenariosWith({ ...client, ...mockServer });

afterEach(() => mock.timers.reset());

const enable = () => mock.timers.enable({ apis: ['setTimeout', 'Date'] });

/** In steps, so that code that continues after a wait can start the next one. */
async function advance(ms) {
  for (let passed = 0; passed < ms; passed += 100) {
    mock.timers.tick(100);
    await setImmediate();
  }
}

test('the waits of a real clock follow fake timers', async () => {
  enable();
  await waitsFollow(advance);
});

test('the waits of a virtual clock end without them', async () => {
  enable();
  await virtualWaitsEnd();
});

test('client and mock work after real timers return', async () => {
  enable();
  await worksAfter(() => mock.timers.reset());
});
