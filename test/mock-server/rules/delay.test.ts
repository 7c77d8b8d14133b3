import { expect, test } from 'vitest';
import { createMockServer, type MockServer, type RuleOptions } from '../../../src/mock-server/index.ts';
import { runScript } from '../../helpers/child-program.ts';
import { mockWithKey, sender } from '../../helpers/mock-with-key.ts';

test('a process does not end while it waits for a response or for a request', async () => {
  // The timer of `AbortSignal.timeout` alone does not keep a process running.
  const { stdout } = await runScript(`
    import { createMockServer } from './src/mock-server/index.ts';
    const mock = createMockServer({ clock: { mode: 'virtual', frozen: true } });
    for (const rule of [{ fail: { kind: 'hang' } }, { delayMs: 60_000 }]) {
      mock.rules.clear();
      mock.rules.add(rule);
      const sent = mock.fetch(mock.baseUrl + '/api/v1/quota', { signal: AbortSignal.timeout(50) });
      console.log(await sent.catch(({ name }) => name));
    }
    await mock.journal.waitFor({ status: 599 }, { timeoutMs: 20 }).catch(({ code }) => console.log(code));
  `);

  expect(stdout).toBe('TimeoutError\nTimeoutError\nwait_timeout\n');
});

/** The time that each of twenty requests takes, in milliseconds. */
async function timesOf(rule: RuleOptions, seed = 1) {
  const { mock, send } = mockWithKey({ seed, clock: 'virtual', plan: 'unlimited' });
  mock.rules.add(rule);
  const times: number[] = [];
  for (let request = 0; request < 20; request += 1) {
    const start = mock.clock.now();
    await send();
    times.push(mock.clock.now() - start);
  }
  return { times, delays: delaysIn(mock) };
}

/** As the reasons in the journal say. */
function delaysIn({ journal }: MockServer): number[] {
  return journal.list().map(({ why }) => Number(/(\d+) ms late$/.exec(why)?.[1]));
}

const RANGE = { min: 100, max: 900 };

test('min and max are whole milliseconds with equal probability, both included', async () => {
  const { mock, send } = mockWithKey({ plan: 'unlimited' });
  mock.rules.add({ delayMs: { min: 7, max: 10 } });

  const sent = Array.from({ length: 800 }, () => send());
  await mock.clock.advance(10);
  await Promise.all(sent);

  const counts = [7, 8, 9, 10].map((ms) => delaysIn(mock).filter((delay) => delay === ms).length);
  expect(counts.reduce((sum, count) => sum + count)).toBe(800);
  // 200 each, give or take four standard deviations.
  for (const count of counts) expect(Math.abs(count - 200)).toBeLessThan(4 * Math.sqrt(800 * 0.25 * 0.75));
});

test.each<[string, RuleOptions]>([
  ['a response', { delayMs: RANGE }],
  ['a response of a rule', { respond: [{ data: 1 }, { data: 2 }], delayMs: RANGE }],
])('each draw of the delay of %s differs, and the seed repeats it', async (_, rule) => {
  const { times, delays } = await timesOf(rule);

  expect(new Set(times).size).toBeGreaterThan(15);
  expect((await timesOf(rule)).times).toEqual(times);
  expect((await timesOf(rule, 2)).times).not.toEqual(times);
  expect(delays).toEqual(times);
});

test('the delays of a key do not depend on the requests of other keys', async () => {
  const delaysOf = async (others: number) => {
    const { mock, id, send } = mockWithKey({ clock: 'virtual' });
    const sendOther = sender(mock, mock.createKey().key);
    mock.rules.add({ delayMs: RANGE });
    for (let request = 0; request < 5; request += 1) {
      for (let before = 0; before < others; before += 1) await sendOther();
      await send();
    }
    return mock.journal.list({ keyId: id }).map(({ why }) => why);
  };

  expect(await delaysOf(2)).toEqual(await delaysOf(0));
});

test('the draws continue after a snapshot', async () => {
  const { mock, key } = mockWithKey({ clock: 'virtual' });
  mock.rules.add({ delayMs: RANGE, respond: { data: 1 } });
  const send = async (target = mock) => {
    const start = target.clock.now();
    await sender(target, key)();
    return target.clock.now() - start;
  };
  const first = await send();
  const copy = createMockServer({ clock: 'virtual' });
  copy.restore(JSON.parse(JSON.stringify(mock.snapshot())));

  const second = await send();

  expect(second).not.toBe(first);
  expect(await send(copy)).toBe(second);
});
