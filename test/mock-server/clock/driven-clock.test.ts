import { createHook } from 'node:async_hooks';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DrivenClock } from '../../../src/mock-server/clock/driven-clock.ts';
import { createMockServer, type MockClock, type MockServer } from '../../../src/mock-server/index.ts';
import { runScript } from '../../helpers/child-program.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';
import { servedMock } from '../../helpers/served-mock.ts';

const START = Date.parse('2026-01-15T00:00:00.000Z');
const still = () => createMockServer({ clock: { mode: 'virtual', autoAdvance: false } }).clock;
const jumping = () => createMockServer({ clock: 'virtual' }).clock;

test.each([
  ['a date', new Date('2027-03-01T00:00:00Z')],
  ['text', '2027-03-01T01:00:00+01:00'],
  ['a day', '2027-03-01'],
  ['milliseconds', Date.UTC(2027, 2)],
])('a virtual clock can start at %s', (_, now) => {
  expect(createMockServer({ clock: { mode: 'virtual', now } }).clock.now()).toBe(Date.UTC(2027, 2));
});

test('a sleep started during an advance can end in the same advance', async () => {
  const clock = still();
  const ticks: number[] = [];
  const ticking = (async () => {
    for (let tick = 0; tick < 5; tick += 1) {
      await clock.sleep(1000);
      // Real code awaits several promises and turns before it sleeps again.
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      ticks.push(clock.now() - START);
    }
  })();

  await clock.advance(5000);

  expect(ticks).toEqual([1000, 2000, 3000, 4000, 5000]);
  await ticking;
});

test('work that began before advance() ends before the time moves', async () => {
  const { mock, send } = mockWithKey();

  const calling = nextTurn().then(() => send());
  await mock.clock.advance(60_000);

  expect((await calling).headers.get('date')).toBe('Thu, 15 Jan 2026 00:00:00 GMT');
});

test.each([[-1], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY], ['5' as unknown as number]])(
  'advance(%s) is rejected: the clock moves forward by whole milliseconds',
  async (ms) => {
    const clock = still();

    await expect(clock.advance(ms)).rejects.toThrow('expected whole milliseconds from 0');

    expect(clock.now()).toBe(START);
  },
);

test('advanceTo rejects a time in the past and an invalid time', async () => {
  const clock = still();

  await expect(clock.advanceTo(START - 1)).rejects.toThrow('a moment not before 2026-01-15T00:00:00.000Z');
  await expect(clock.advanceTo('tomorrow')).rejects.toThrow(
    `advanceTo is "tomorrow"; expected 'quota-reset', 'next-window', a Date, an ISO 8601 date`,
  );
  await expect(clock.advanceTo('2026-02-01T00:00:00')).rejects.toThrow('time with a zone');
  expect(await clock.advanceTo('2026-02-01T00:00:00Z')).toBe(Date.UTC(2026, 1));
});

test('any mix of sleeps and aborts wakes exactly those that are due, in order', async () => {
  const sleeper = fc.record({ ms: fc.nat(50), isAborted: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(sleeper, { maxLength: 60 }), fc.nat(50), async (sleepers, untilMs) => {
      const clock = still();
      const woken: number[] = [];
      const controllers = sleepers.map(({ ms }, index) => {
        const controller = new AbortController();
        clock.sleep(ms, controller.signal).then(
          () => woken.push(index),
          () => undefined,
        );
        return controller;
      });
      sleepers.forEach(({ ms, isAborted }, index) => {
        if (isAborted && ms > 0) controllers[index]?.abort();
      });

      await clock.advance(untilMs);

      const due = sleepers
        .map(({ ms, isAborted }, index) => ({ ms, index, isGone: isAborted && ms > 0 }))
        .filter(({ ms, isGone }) => ms <= untilMs && !isGone)
        .sort((one, other) => one.ms - other.ms || one.index - other.index);
      expect(woken).toEqual(due.map(({ index }) => index));
    }),
    { numRuns: 60 },
  );
});

test('the clock jumps to the earliest sleep when nothing else can run', async () => {
  const clock = jumping();
  const times: number[] = [];
  const late = clock.sleep(3_600_000).then(() => times.push(clock.now() - START));
  const chain = (async () => {
    for (let step = 0; step < 3; step += 1) {
      await clock.sleep(60_000);
      for (let turn = 0; turn < 8; turn += 1) await nextTurn();
      times.push(clock.now() - START);
    }
  })();

  await Promise.all([late, chain]);

  expect(times).toEqual([60_000, 120_000, 180_000, 3_600_000]);
});

/** Sends requests, each after the response to the last one, until the returned function is called. */
function polling(send: () => Promise<unknown>) {
  const polls = { areSent: true };
  const sending = (async () => {
    while (polls.areSent) {
      await send();
      await nextTurn(); // in process, a response needs none
    }
  })();
  return () => {
    polls.areSent = false;
    return sending;
  };
}

/** What goes on beside a virtual wait. */
const BESIDE = {
  async 'requests arrive over sockets'() {
    const { mock, call } = await servedMock();
    const { key } = mock.createKey({ plan: 'unlimited' });
    return { clock: mock.clock, use: () => call(key, '/api/v1/quota'), close: () => mock.close() };
  },
  async 'requests arrive in process'() {
    const { mock, send } = mockWithKey({ clock: 'virtual', plan: 'unlimited' });
    return { clock: mock.clock, use: () => send('/api/v1/quota'), close: () => mock.close() };
  },
  async 'waits begin and are aborted'() {
    const mock = createMockServer({ clock: 'virtual' });
    const use = async () => {
      const controller = new AbortController();
      const sleep = mock.clock.sleep(60_000, controller.signal).catch(() => undefined);
      await nextTurn();
      controller.abort();
      await sleep;
    };
    return { clock: mock.clock, use, close: () => mock.close() };
  },
  async 'the time is read'() {
    const mock = createMockServer({ clock: 'virtual' });
    return { clock: mock.clock, use: async () => mock.clock.now(), close: () => mock.close() };
  },
};

test.each(Object.entries(BESIDE))('a virtual wait ends while %s again and again', async (_, create) => {
  const { clock, use, close } = await create();
  const stop = polling(use);

  const long = clock.sleep(300).then(() => clock.now() - START);
  await clock.sleep(20);
  await clock.sleep(20);
  expect(await clock.advance(60_000)).toBeGreaterThanOrEqual(START + 60_040);

  expect(await long).toBeGreaterThanOrEqual(300);
  await stop();
  await close();
});

/** A clock to whose mock requests can be on the way. It waits then in real time, before the earliest wait ends. */
const inTransit = (autoAdvance: boolean) => new DrivenClock({ mode: 'virtual', autoAdvance }, { haveTransit: true });

/** Counts the timers of Node.js that start until the test has ended. */
function countTimers() {
  const timers = { count: 0 };
  const init = (_: number, type: string) => {
    if (type === 'Timeout') timers.count += 1;
  };
  const hook = createHook({ init }).enable();
  onTestFinished(() => void hook.disable());
  return timers;
}

test.each([true, false])(
  'a wait of many steps does not wait for requests at each step: autoAdvance %s',
  async (autoAdvance) => {
    const timers = countTimers();
    const clock = inTransit(autoAdvance);
    const steps = (async () => {
      for (let step = 0; step < 500; step += 1) await clock.sleep(1000);
      return clock.now() - START;
    })();

    if (!autoAdvance) await clock.advanceTo((now) => now + 500_000);

    expect(await steps).toBe(500_000);
    expect(timers.count).toBeLessThan(2 * 500); // the first step takes a dozen pauses
  },
);

test('simultaneous waits of any lengths take no longer than the longest of them', async () => {
  const timers = countTimers();
  const clock = inTransit(true);

  const ends = await Promise.all(
    Array.from({ length: 500 }, async (_, index) => {
      await clock.sleep(index / 8);
      return clock.now() - START;
    }),
  );

  expect(timers.count).toBeLessThan(500);
  expect(ends).toEqual(Array.from({ length: 500 }, (_, index) => Math.ceil(index / 8)));
});

test('without autoAdvance, the clock stays at its fixed start and no sleep ends by itself', async () => {
  const clock = still();
  const woken: number[] = [];
  const sleep = clock.sleep(10).then(() => woken.push(clock.now()));

  for (let turn = 0; turn < 200; turn += 1) await nextTurn();

  expect([woken, clock.now()]).toEqual([[], START]);
  await clock.advance(10);
  await sleep;
});

test('a function of a rule may move the clock while its request is served', async () => {
  const mock = createMockServer({ clock: 'virtual' });
  const moves: Promise<number>[] = [];
  const respond = () => {
    moves.push(mock.clock.advance(5000));
    return { body: {} };
  };
  mock.rules.add({ counted: false, respond });

  await mock.fetch(`${mock.baseUrl}/api/v1/late`);
  await Promise.all(moves);

  expect(mock.clock.now()).toBe(START + 5000);
});

test('the clock does not jump while a file or a name is being read', async () => {
  const clock = jumping();
  const slow = async () => {
    await readFile(import.meta.filename);
    await lookup('localhost');
    await readFile(import.meta.filename);
    return clock.now();
  };

  const [now] = await Promise.all([slow(), clock.sleep(1000)]);

  expect(now).toBe(START);
});

test('timers that a test has faked do not stop the mock', async () => {
  const { setImmediate, setTimeout } = globalThis;
  const mock = createMockServer({ clock: 'virtual' });
  // Like those of a test library: they can be cleared, and never fire.
  vi.stubGlobal('setImmediate', () => setImmediate(() => undefined));
  vi.stubGlobal('setTimeout', () => setTimeout(() => undefined));

  await mock.clock.sleep(60_000);
  await mock.clock.advance(1000);
  await using server = await mock.serve();

  expect((await mock.fetch(mock.baseUrl)).status).toBe(404);
  expect((await fetch(server.url)).status).toBe(200);
});

test('a sleep beyond the largest time never ends, and does not keep the process alive', async () => {
  const clock = jumping();
  const controller = new AbortController();
  const forever = clock.sleep(Number.POSITIVE_INFINITY, controller.signal);

  await clock.sleep(1000);

  expect(clock.now()).toBe(START + 1000);
  controller.abort(new Error('morning'));
  await expect(forever).rejects.toThrow('morning');
});

test('snapshot and restore set the clock back; a sleeper keeps the rest of its wait', async () => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const snapshot = mock.snapshot();
  await mock.clock.advance(60_000);
  const woken: number[] = [];
  const sleep = mock.clock.sleep(1000).then(() => woken.push(mock.clock.now()));

  mock.restore(snapshot);

  expect(mock.clock.now()).toBe(START);
  await mock.clock.advance(999);
  expect(woken).toEqual([]);
  await mock.clock.advance(1);
  await sleep;
});

test('a process with nothing but a clock and an idle sleeper ends', async () => {
  const { stdout } = await runScript(`
    const { createMockServer } = await import('./src/mock-server/index.ts');
    const { clock } = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
    clock.sleep(1000);
    await createMockServer({ clock: 'virtual' }).clock.sleep(86_400_000);
    console.log('a day later');
  `);

  expect(stdout.trim()).toBe('a day later');
});

test('an aborted wait of a real clock leaves no timer', async () => {
  const { clock } = createMockServer();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const controller = new AbortController();

  const sleep = clock.sleep(60_000, controller.signal);
  const during = timers();
  controller.abort(new Error('enough'));
  await expect(sleep).rejects.toThrow('enough');

  expect([during, timers()]).toEqual([before + 1, before]);
});

const MONTH_END = { mode: 'virtual', autoAdvance: false, now: '2026-01-31T23:59:30.500Z' } as const;
const iso = (ms: number) => new Date(ms).toISOString();

test.each([
  ['sliding-log', '2026-02-01T00:00:35.500Z'],
  ['fixed-epoch', '2026-02-01T00:00:00.000Z'],
  ['fixed-first-request', '2026-02-01T00:00:30.500Z'],
  ['sliding-counter', '2026-02-01T00:01:00.000Z'],
  ['token-bucket', '2026-01-31T23:59:37.500Z'],
] as const)("advanceTo('next-window') goes to where the whole minute is free again: %s, %s", async (rateWindow, at) => {
  const { mock, send } = mockWithKey({ clock: MONTH_END, behaviour: { rateWindow } });
  await send();
  await mock.clock.advance(5000);
  await send();

  await mock.clock.advanceTo('next-window');

  expect(iso(mock.clock.now())).toBe(at);
  const statuses = await Promise.all(Array.from({ length: 31 }, async () => (await send()).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(30);
});

test.each([
  ['sliding-log', 60_000, '2026-02-01T00:03:00.000Z'],
  ['token-bucket', 2000, '2026-02-01T00:02:00.000Z'],
] as const)(
  "advanceTo('next-window') ignores keys that no longer use their minute: %s",
  async (rateWindow, fullInMs, at) => {
    const mock = createMockServer({ clock: MONTH_END, behaviour: { rateWindow } });
    const [idle, busy] = [mock.createKey(), mock.createKey()];
    const send = ({ key }: { readonly key: string }) => mock.fetch(`${mock.baseUrl}/api/v1/latest?api_key=${key}`);
    await send(idle);
    await mock.clock.advance(90_000);

    await send(busy);
    await mock.clock.advance(1);

    const start = mock.clock.now() - 1;
    expect((await mock.clock.advanceTo('next-window')) - start).toBe(fullInMs);
    expect(iso(await mock.clock.advanceTo('next-window'))).toBe(at);
  },
);

test('advanceTo works without a key', async () => {
  const mock = createMockServer({ clock: MONTH_END });

  expect(iso(await mock.clock.advanceTo('next-window'))).toBe('2026-02-01T00:00:00.000Z');
  expect(iso(await mock.clock.advanceTo('quota-reset'))).toBe('2026-03-01T00:00:00.000Z');
});

const END = { mode: 'virtual', now: '9999-12-31T23:59:30Z' } as const;
const BEFORE_10000 = 'expected a move to a time before the year 10000; mock.reset() restores the first time.';

test.each<[string, (clock: MockClock) => Promise<unknown>, string]>([
  ['advance()', (clock) => clock.advance(30_000), 'advance is 30000; expected a move to a time'],
  ['advances', (clock) => Promise.all([clock.advance(20_000), clock.advance(20_000)]), 'advance is 20000; expected'],
  ['a long wait', (clock) => clock.sleep(30_000), 'sleep is 30000; expected milliseconds that end'],
  ['a wait without an end', (clock) => clock.sleep(Number.MAX_VALUE), 'expected milliseconds that end'],
  ['a quota reset', (clock) => clock.advanceTo('quota-reset'), `advanceTo is "quota-reset"; ${BEFORE_10000}`],
  ['a next window', (clock) => clock.advanceTo('next-window'), `advanceTo is "next-window"; ${BEFORE_10000}`],
])('%s never passes the year 9999', async (_, move, message) => {
  const mock = createMockServer({ clock: END });

  await expect(move(mock.clock)).rejects.toThrow(message);

  expect(await mock.clock.advance(1000)).toBeLessThan(Date.UTC(10_000, 0));
});

test('a real clock stops at the end of the year 9999, and no time in a response is later', async () => {
  const mock = createMockServer({ clock: { mode: 'real', now: '9999-12-31T23:59:59.999Z' } });
  const { key } = mock.createKey();
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);

  const response = await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: key } });

  expect(iso(mock.clock.now())).toBe('9999-12-31T23:59:59.999Z');
  expect(await response.json()).toMatchObject({ data: { resets_at: '9999-12-31T23:59:59.999Z' } });
});

test('a response whose delay is longer than time lasts hangs until its client is gone', async () => {
  const mock = createMockServer({ clock: END });
  mock.rules.add({ delayMs: 60_000 });
  const gone = new AbortController();

  const sent = mock.fetch(`${mock.baseUrl}/api/v1/quota`, { signal: gone.signal });
  await mock.journal.waitFor();
  gone.abort();

  await expect(sent).rejects.toThrow('aborted');
});

/** Waits in real time, with the clock of another mock. */
const passMs = (ms: number) => createMockServer().clock.sleep(ms);

test('a frozen real clock moves only by advance, and continues from there', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: START, frozen: true } });
  const woken: number[] = [];
  const sleep = clock.sleep(2).then(() => woken.push(clock.now()));

  await passMs(10);
  expect([clock.now(), woken]).toEqual([START, []]);

  expect(await clock.advance(60_000)).toBe(START + 60_000);
  await sleep;
  expect(woken).toEqual([START + 2]);

  clock.resume();
  await clock.sleep(3);
  expect(clock.now()).toBeGreaterThanOrEqual(START + 60_003);
  // The time during which it was frozen is not added, because that would be a jump.
  expect(clock.now()).toBeLessThan(START + 120_000);
});

test('freezing or resuming twice has no further effect', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: START } });

  clock.freeze();
  const frozenAt = clock.now();
  await passMs(3);
  clock.freeze();
  expect(clock.now()).toBe(frozenAt);
  clock.resume();
  clock.resume();

  expect(clock.isFrozen).toBe(false);
  expect(clock.now()).toBeGreaterThanOrEqual(frozenAt);
});

test('a frozen virtual clock does not jump to a sleeper by itself', async () => {
  const { clock } = createMockServer({ clock: { mode: 'virtual', frozen: true } });
  const woken: number[] = [];
  const sleep = clock.sleep(1000).then(() => woken.push(clock.now()));

  await passMs(10);
  expect(woken).toEqual([]);
  clock.resume();
  await sleep;

  expect(clock.now()).toBe(START + 1000);
});

test('a frozen clock is restored to the millisecond, however slow the machine is', () => {
  const other = createMockServer({ clock: { mode: 'real', now: START, frozen: true } });
  const snapshot = other.snapshot();
  const mock = createMockServer();
  let at = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => at++);

  mock.restore(snapshot);

  expect(mock.clock.now()).toBe(START);
});

test.each(['real', 'virtual'] as const)('restore and reset set whether the %s clock is frozen', (mode) => {
  const mock = createMockServer({ clock: { mode, now: START } });
  mock.clock.freeze();
  const snapshot = mock.snapshot();
  mock.reset();
  expect(mock.clock.isFrozen).toBe(false);

  mock.restore(snapshot);

  expect(mock.clock.isFrozen).toBe(true);
  expect(mock.clock.now()).toBe(snapshot.now);
});

test('advance moves a real clock and ends the waits on the way, in order', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' } });
  const start = clock.now();
  const woken: string[] = [];
  const sleeps = [
    clock.sleep(7_200_000).then(() => woken.push('two hours')),
    clock.sleep(3_600_000).then(async () => {
      woken.push('one hour');
      await clock.sleep(1_800_000);
      woken.push('one and a half');
    }),
  ];

  const now = await clock.advance(7_200_000);
  await Promise.all(sleeps);

  expect(woken).toEqual(['one hour', 'one and a half', 'two hours']);
  expect(now - start).toBeGreaterThanOrEqual(7_200_000);
});

test('simultaneous calls of advance() move the clock by their sum', async () => {
  const { clock } = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' } });
  const start = clock.now();
  const woken = clock.sleep(60_000);

  const [first, second] = await Promise.all([clock.advance(3_600_000), clock.advance(3_600_000)]);
  await woken;

  expect(first - start).toBeGreaterThanOrEqual(3_600_000);
  expect(second - start).toBeGreaterThanOrEqual(7_200_000);
  expect(clock.now() - start).toBeGreaterThanOrEqual(7_200_000);
});

test('advance() after a reset starts from the new time', async () => {
  const mock = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' } });
  await mock.clock.advance(3_600_000);

  mock.reset();

  expect(new Date(await mock.clock.advance(60_000)).toISOString()).toMatch(/^2026-01-15T00:01:0/);
});

test.each(['advance', 'advanceTo'] as const)('%s moves as far as asked after the date was set back', async (method) => {
  const mock = createMockServer({ clock: 'real' });
  const { now } = Date;
  const startedAt = mock.clock.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now() - HOUR_MS);
  const target = startedAt + 2 * HOUR_MS;

  const reached = await (method === 'advance' ? mock.clock.advance(2 * HOUR_MS) : mock.clock.advanceTo(target));

  expect(reached).toBeGreaterThanOrEqual(target);
  expect(mock.clock.now()).toBeGreaterThanOrEqual(reached);
});

const HOUR_MS = 3_600_000;

test.each<[string, (mock: MockServer) => unknown]>([
  ['reset()', (mock) => mock.reset()],
  ['restore()', (mock) => mock.restore(mock.snapshot())],
])('moves that began before %s do not move the clock after it', async (_, change) => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const moves = [mock.clock.advance(86_400_000), mock.clock.advanceTo('2027-01-01T00:00:00Z')];

  change(mock);

  expect(await Promise.all(moves)).toEqual([START, START]);
  expect(mock.clock.now()).toBe(START);
});
