import { afterEach, mock, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as client from 'fxrates';
import * as mockServer from 'fxrates/mock-server';
import { scenariosWith } from './scenarios.cjs';

const { waitsFollow, waitsEnd, virtualWaitsEnd, worksAfter } = scenariosWith({ ...client, ...mockServer });

afterEach(() => mock.timers.reset());

/** In steps, so that code that continues after a wait can start the next one. */
async function advance(ms) {
  for (let passed = 0; passed < ms; passed += 100) {
    mock.timers.tick(100);
    await setImmediate();
  }
}

for (const apis of [['setTimeout', 'Date'], ['setTimeout']]) {
  test(`the waits of a real clock follow fake timers: ${apis}`, async () => {
    mock.timers.enable({ apis });
    await waitsFollow(advance);
  });
}

test('the waits of a real clock end with a date that stands still', async () => {
  mock.timers.enable({ apis: ['Date'] });
  await waitsEnd();
});

for (const apis of [['setTimeout', 'Date'], ['setTimeout'], ['Date']]) {
  test(`the waits of a virtual clock end without them: ${apis}`, async () => {
    mock.timers.enable({ apis });
    await virtualWaitsEnd();
  });

  test(`client and mock work after real timers return: ${apis}`, async () => {
    mock.timers.enable({ apis });
    await worksAfter(() => mock.timers.reset());
  });
}
