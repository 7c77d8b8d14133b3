import { expect, test } from 'vitest';
import type { QuotaData } from '../../../src/client/index.ts';
import { QuotaCheck } from '../../../src/client/quota/quota-check.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { quotaRecord } from '../../helpers/service-replies.ts';

/** A check whose questions are counted and answered by `answers` in turn. */
function setUp(...answers: (QuotaData | Error)[]) {
  const clock = new FakeClock();
  const check = new QuotaCheck(clock);
  let asked = 0;
  const load = async () => {
    asked += 1;
    const answer = answers.shift();
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('asked too often');
    return answer;
  };
  return { clock, ask: () => check.ask(load), asked: () => asked };
}

test('a burst is one question', async () => {
  const quota = quotaRecord();
  const { ask, asked } = setUp(quota);

  const answers = await Promise.all(Array.from({ length: 50 }, ask));

  expect(new Set(answers)).toEqual(new Set([quota]));
  expect(asked()).toBe(1);
});

test('a refusal within the next second is explained by the same answer, a later one asks again', async () => {
  const { clock, ask, asked } = setUp(quotaRecord(), quotaRecord({ monthly_used: 1000 }));
  await ask();

  await clock.advance(1000);
  await expect(ask()).resolves.toMatchObject({ monthly_used: 742 });
  await clock.advance(1);
  await expect(ask()).resolves.toMatchObject({ monthly_used: 1000 });

  expect(asked()).toBe(2);
});

test('a quota that cannot be had is undefined, for that second', async () => {
  const { clock, ask, asked } = setUp(new Error('down'), quotaRecord());

  await expect(ask()).resolves.toBeUndefined();
  await expect(ask()).resolves.toBeUndefined();
  await clock.advance(1001);
  await expect(ask()).resolves.toMatchObject({ monthly_used: 742 });

  expect(asked()).toBe(2);
});
