import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileStore } from '../../../../src/client/file-store/index.ts';
import { Permit } from '../../../../src/client/limits/in-flight.ts';
import { AcceptedLog, LIMITER_STATE_VERSION } from '../../../../src/client/limits/limit-state.ts';
import type { LongWait, RateLimiterOptions, Wait } from '../../../../src/client/limits/rate-limiter.ts';
import type { AcquireOptions } from '../../../../src/client/limits/request-queue.ts';
import type { LimitOffer, LimitStore } from '../../../../src/client/limits/shared/limit-store.ts';
import { parseState } from '../../../../src/client/limits/shared/store-exchange.ts';
import { Cancellation } from '../../../../src/client/time/abort.ts';
import { FakeClock, quiet } from '../../../helpers/fake-clock.ts';
import { MemoryLimitStore } from '../../../helpers/memory-limit-store.ts';
import { ask, hint, StrictLimiter } from '../../../helpers/strict-limiter.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const MINUTE = 60_000;
const STATE_NAME = `${LIMITER_STATE_VERSION}:key`;

interface ProcessOptions extends Partial<RateLimiterOptions> {
  readonly aheadMs?: number;
  readonly onSleep?: () => void;
  readonly link?: LimitStore;
}

function setUp(options: Partial<RateLimiterOptions> = {}) {
  const clock = new FakeClock();
  const store = new MemoryLimitStore(clock, { takesMs: 2 });
  const outages: string[] = [];
  /** A process of its own, as far as a limiter can tell; `aheadMs`: of its clock. */
  const startProcess = ({ aheadMs = 0, onSleep = () => {}, link = store, ...own }: ProcessOptions = {}) =>
    new StrictLimiter({
      clock: {
        now: () => clock.now() + aheadMs,
        sleep: (ms, signal) => {
          onSleep();
          return clock.sleep(ms, signal);
        },
      },
      perMinute: 4,
      shared: { store: link, name: 'key' },
      onOutage: (reason) => outages.push(reason),
      ...options,
      ...own,
    });
  /** Sends calls, and waits until the store has them. */
  const send = async (limiter: StrictLimiter, calls: number) => {
    const granted = ask(limiter, calls);
    await clock.advance(10);
    return granted;
  };
  /** Sends calls, whose responses arrive 10 ms later, and waits until the store has them. Returns their number. */
  const serve = async (limiters: StrictLimiter | StrictLimiter[], calls = 1) => {
    const granted = [limiters].flat().map((limiter) => ask(limiter, calls));
    await clock.advance(10);
    for (const permit of granted.flat()) permit.end({ kind: 'accepted' });
    await clock.advance(10);
    return granted.flat().length;
  };
  return { clock, store, outages, startProcess, send, serve };
}

/** The store as one process reaches it, over a network of its own. */
function linkTo(store: LimitStore) {
  const link = {
    isUp: true,
    exchange: async (...parts: Parameters<LimitStore['exchange']>) => {
      if (!link.isUp) throw new Error('unreachable');
      return store.exchange(...parts);
    },
  };
  return link;
}

/** A store to which others always write first, in exchanges of 20 ms. */
function busyStore(clock: FakeClock, onOffer: (offer: LimitOffer) => void = () => undefined): LimitStore {
  let version = 0;
  return {
    async exchange(_name, _known, offer) {
      if (offer) onOffer(offer);
      await clock.sleep(20);
      version += 1;
      return { isWritten: false, version: `${version}`, state: '', nowMs: clock.now() };
    },
  };
}

test('four processes with deadlines use every slot before one of their calls is rejected', async () => {
  const { clock, startProcess } = setUp({ perMinute: 30 });
  const processes = [1, 2, 3, 4].map(() => startProcess());
  const startedAt = clock.now();
  const due = { deadlineAt: 25_000 + startedAt };
  let served = 0;
  const call = async (limiter: StrictLimiter) => {
    const permit = await limiter.acquire({ due });
    served += 1;
    await clock.sleep(5);
    permit.end({ kind: 'accepted' });
  };

  const calls = processes.flatMap((limiter) => Array.from({ length: 15 }, () => call(limiter)));
  const ended = Promise.allSettled(calls);
  await clock.runAll();
  const results = await ended;

  expect([served, results.filter(({ status }) => status === 'rejected').length]).toEqual([30, 30]);
});

test('a Retry-After of days closes the gate of all processes for a day', async () => {
  const { clock, startProcess, send } = setUp({ maxRetryAfterMs: 31 * 86_400_000 });
  const [permit] = await send(startProcess(), 1);
  permit?.end({ kind: 'refused', retryAfter: hint('259200') });
  await clock.advance(10);

  const other = startProcess();
  void other.acquire();
  await clock.advance(10);

  expect(other.limits().nextSlotAt.getTime() - clock.now()).toBeLessThanOrEqual(86_400_000);
  expect(other.limits().reason).toBe('retry_after');
});

test('the calls of a process that died count as sent, half a minute later', async () => {
  const { clock, startProcess, send } = setUp();
  const dead = await send(startProcess(), 3);
  const other = startProcess();

  const granted = await send(other, 5);
  granted[0]?.end({ kind: 'accepted' });
  await clock.advance(MINUTE + 1_000);
  granted[1]?.end({ kind: 'accepted' });
  const whileTheyCounted = granted.length;
  await clock.advance(MINUTE / 2);

  expect([dead.length, whileTheyCounted, granted.length]).toEqual([3, 2, 5]);
});

test.each(['down', 'silent'] as const)(
  'with a %s store, each process uses its share, reported once',
  async (health) => {
    const { clock, store, outages, startProcess, serve } = setUp({ perMinute: 40 });
    const [one, other] = [startProcess(), startProcess()];
    await serve([one, other]);

    store.health = health;
    const granted = [ask(one, 40), ask(other, 40)];
    await clock.advance(300);

    for (let round = 0; round < 20; round += 1) {
      for (const permit of granted.flat()) permit.end({ kind: 'accepted' });
      await clock.advance(300);
    }
    expect(granted.map(({ length }) => length)).toEqual([19, 19]);
    expect(outages).toHaveLength(2);
    expect(outages[0]).toMatch(health === 'down' ? 'connection refused' : 'no response within 1000 ms');
  },
);

test.each([
  [300, 60],
  [100, 25],
])('a call with %i ms left waits %i ms for a store that hangs, and no warning is due yet', async (leftMs, waitedMs) => {
  const { clock, store, outages, startProcess } = setUp();
  store.health = 'silent';
  const limiter = startProcess();
  const startedAt = clock.now();
  const sent = limiter.acquire({ due: { deadlineAt: startedAt + leftMs } });

  await clock.advance(leftMs);

  expect((await sent).sentAt - startedAt).toBe(waitedMs);
  expect(outages).toHaveLength(0);
  await clock.advance(1_000);
  expect(outages).toEqual(['no response within 1000 ms']);
});

test('a process follows the store for a call with a deadline, however long ago it asked before', async () => {
  const { clock, startProcess, serve } = setUp();
  const [one, other] = [startProcess(), startProcess()];
  await serve(one);
  await clock.advance(10 * MINUTE);
  await serve(other, 4);

  const rejected = one.acquire({ due: { deadlineAt: clock.now() + 1_000 } }).catch(({ reason }) => reason);
  await clock.advance(100);

  expect(await rejected).toBe('deadline');
});

test.each<Partial<AcquireOptions>>([{ priority: 'low' }, { priority: 'normal' }, { waits: false }])(
  'requests of another process that were in flight long ago reject no call (%j)',
  async (options) => {
    const { clock, startProcess, send } = setUp();
    const [one, other] = [startProcess(), startProcess()];
    const sent = await send(other, 4);
    const early = one.acquire({ ...options, due: { deadlineAt: clock.now() + 5_000 } }).catch(({ reason }) => reason);
    await clock.advance(100);
    for (const permit of sent) permit.end({ kind: 'accepted' });
    await clock.advance(10 * MINUTE);

    const { reason } = one.limits();
    const later = one.acquire({ ...options, due: { deadlineAt: clock.now() + 5_000 } });
    await clock.advance(100);

    expect(reason).toBe(undefined);
    expect(await early).toBe('deadline');
    expect(await later).toBeInstanceOf(Permit);
  },
);

test('a call rejected for its deadline leaves no slot free for its process', async () => {
  const { clock, startProcess, serve } = setUp();
  const [one, other] = [startProcess(), startProcess()];
  for (let call = 0; call < 4; call += 1) {
    await serve(other);
    await clock.advance(3_000);
  }
  await clock.advance(45_000);
  const rejected = one.acquire({ due: { deadlineAt: clock.now() + 500 } }).catch(({ reason }) => reason);
  await clock.advance(100);

  const granted = ask(other, 1);
  await clock.advance(3_000);

  expect(await rejected).toBe('deadline');
  expect(granted).toHaveLength(1);
});

test('a grant that arrives after a process has sent calls without it is returned', async () => {
  const { clock, store, startProcess } = setUp({ perMinute: 10 });
  const late: LimitStore = {
    async exchange(...parts) {
      await clock.sleep(600);
      return store.exchange(...parts);
    },
  };
  const limiter = startProcess({ link: late });
  const due = { deadlineAt: clock.now() + 1_000 };
  const first = Array.from({ length: 10 }, () => limiter.acquire({ due }));
  await clock.advance(300);

  const later = ask(limiter, 10);
  await clock.advance(5_000);

  expect(await Promise.all(first)).toHaveLength(10);
  expect(later).toHaveLength(0);
});

test('a grant that arrives after a process had no slot of its own is used', async () => {
  const { clock, store, startProcess, serve } = setUp();
  const late: LimitStore = {
    async exchange(...parts) {
      await clock.sleep(600);
      return store.exchange(...parts);
    },
  };
  const [one, other] = [startProcess({ link: late }), startProcess()];
  await serve(other, 2);
  const [first] = [one.acquire()];
  await clock.advance(2_000);
  (await first).end({ kind: 'accepted' });
  await clock.advance(2_000);

  const sent = one.acquire({ due: { deadlineAt: clock.now() + 2_000 } });
  const startedAt = clock.now();
  await clock.advance(1_900);

  expect((await sent).sentAt - startedAt).toBeLessThan(700);
});

test('a call with a deadline uses the only slot', async () => {
  const { clock, startProcess } = setUp({ perMinute: 1 });

  const sent = startProcess().acquire({ due: { deadlineAt: clock.now() + 1_000 } });
  await clock.advance(10);

  expect(await sent).toMatchObject({ ticket: 1 });
});

test('while the store is down, the ramp of each process begins again after its part of the window before', async () => {
  const { clock, store, startProcess, send, serve } = setUp({ perMinute: 60 });
  const processes = [startProcess(), startProcess()];
  const [one] = processes;
  expect(await serve(processes, 6)).toBe(12);
  const [refused] = one ? await send(one, 1) : [];
  refused?.end({ kind: 'refused', retryAfter: hint('60') });
  await clock.advance(10);
  store.health = 'down';
  const sent: number[] = [];

  const granted = one ? ask(one, 12) : [];
  await clock.advance(61_500);
  for (let ended = 0; ended < 12; ) {
    sent.push(granted.length - ended);
    for (const permit of granted.slice(ended)) permit.end({ kind: 'accepted' });
    ended += sent.at(-1) ?? 0;
    await clock.advance(10);
  }

  expect(sent).toEqual([1, 2, 3, 1, 2, 3]); // six, then those that others may leave
});

test('while the store is down, each process sends evenly, a part of the rate and of the burst', async () => {
  const longWaits: LongWait[] = [];
  const { clock, store, startProcess, send, serve } = setUp({
    ...{ perMinute: 60, onLongWait: (wait: LongWait) => longWaits.push(wait) },
  });
  const processes = [startProcess(), startProcess()];
  const [one] = processes;
  await serve(processes, 12);
  const [refused] = one ? await send(one, 1) : [];
  refused?.end({ kind: 'refused', retryAfter: hint('1') }); // one request per second
  await clock.advance(20_000);
  await serve(processes);
  await clock.advance(5_000);
  store.health = 'down';
  /** How many of the calls of each process are sent within a second, in two times with a pause before. */
  const bursts = [];
  for (const calls of [12, 50]) {
    const granted = processes.map((limiter) => ask(limiter, calls));
    await clock.advance(1_000);
    bursts.push(granted.map(({ length }) => length));
    for (let second = 0; second < 60; second += 1) {
      for (const permit of granted.flat()) permit.end({ kind: 'accepted' });
      await clock.advance(1_000);
    }
  }

  expect(bursts).toEqual([
    [6, 6],
    [12, 12], // after a pause, twice as many
  ]);
  expect(longWaits.map(({ isPart }) => isPart)).toEqual([true, true]);
});

test.each([10_000, 1_000_000, Number.POSITIVE_INFINITY])(
  'a call with %i ms left that waits for the store alone reports no wait',
  async (leftMs) => {
    const waits: unknown[] = [];
    const { clock, startProcess, serve } = setUp({ onWait: (wait) => waits.push(wait) });
    const limiter = startProcess();
    await serve(limiter);

    const sent = limiter.acquire({ due: { deadlineAt: clock.now() + leftMs } });
    await clock.advance(10);

    await sent;
    expect(waits).toEqual([]);
  },
);

test('calls that wait for a minute report that once, with the time of the slot', async () => {
  const waits: Wait[] = [];
  const { clock, startProcess, serve } = setUp({ onWait: (wait) => waits.push(wait) });
  const limiter = startProcess();
  await serve(limiter, 4);

  ask(limiter, 1);
  await clock.advance(20_000);
  ask(limiter, 2);
  await clock.advance(20_000);

  expect(waits).toMatchObject([{ reason: 'window', waiting: 1 }]);
  expect(waits[0]?.waitMs).toBeGreaterThan(59_000);
});

test('a store that is only slow counts the requests that a process sent before it responded', async () => {
  const { clock, store, startProcess } = setUp();
  const late: LimitStore = {
    async exchange(...parts) {
      await clock.sleep(400);
      return store.exchange(...parts);
    },
  };
  const sent = startProcess({ link: late }).acquire({ due: { deadlineAt: clock.now() + 300 } });
  await clock.advance(2_000);
  (await sent).end({ kind: 'accepted' });
  await clock.advance(2_000);

  const granted = ask(startProcess(), 10);
  await clock.advance(100);

  expect(granted).toHaveLength(3); // of four
});

/** How an exchange of a process ends whose reply is lost. */
const lostReplies: Record<string, (store: LimitStore, parts: Parameters<LimitStore['exchange']>) => Promise<unknown>> =
  {
    'writes, and does not respond': (store, parts) => store.exchange(...parts).then(() => new Promise(() => undefined)),
    'neither writes nor responds': () => new Promise(() => undefined),
    'writes, and loses the connection': (store, parts) =>
      store.exchange(...parts).then(() => Promise.reject(new Error('ECONNRESET'))),
    'neither writes nor keeps the connection': () => Promise.reject(new Error('ECONNRESET')),
    'writes, and receives the command again': (store, parts) =>
      store.exchange(...parts).then(() => store.exchange(...parts)),
    'writes, and responds with an invalid time': (store, parts) =>
      store.exchange(...parts).then((reply) => ({ ...reply, nowMs: Number.NaN })),
  };

test.each(Object.keys(lostReplies).flatMap((how) => ['memory', 'files'].map((place) => [place, how] as const)))(
  'a store in %s that %s has each request once',
  async (place, how) => {
    const { clock, store, startProcess, send } = setUp({ perMinute: 14 });
    const shared = place === 'memory' ? store : fileStore(join(temporaryFolder(), 'limits'), { clock });
    let isLost = false;
    const exchange: LimitStore['exchange'] = async (...parts) =>
      isLost && parts[2] !== undefined ? (lostReplies[how]?.(shared, parts) as never) : shared.exchange(...parts);
    const [one, other] = [startProcess({ link: { exchange } }), startProcess({ link: shared })];
    const first = await send(one, 10);

    isLost = true;
    for (const permit of first) permit.end({ kind: 'accepted' });
    await clock.advance(2_500); // of several tries
    isLost = false;
    const second = await send(one, 1);
    await clock.advance(3_000);
    second[0]?.end({ kind: 'accepted' });
    const granted = await send(other, 14);

    expect(first.length + second.length).toBe(11);
    expect(granted).toHaveLength(14 - 11);
  },
);

test('a store that works again, empty or not, receives the requests sent meanwhile', async () => {
  for (const isEmpty of [true, false]) {
    const { clock, store, startProcess, serve } = setUp();
    const [one, other] = [startProcess(), startProcess()];
    await serve(one);
    store.health = 'down';
    const second = ask(one, 1);
    await clock.advance(500);
    second[0]?.end({ kind: 'accepted' });

    store.health = 'up';
    if (isEmpty) store.forget();
    await clock.advance(1_000);
    const granted = [ask(one, 4)];
    await clock.advance(100);
    granted.push(ask(other, 4));
    await clock.advance(100);

    expect(granted.flat()).toHaveLength(2);
  }
});

test.each([1_200, 4_900])('a clock of the store that is set back by %i ms costs few exchanges', async (backMs) => {
  const { clock, store, startProcess, send } = setUp({ perMinute: 100 });
  const [one, other] = [startProcess(), startProcess()];
  const first = await send(one, 2);
  first[0]?.end({ kind: 'refused', retryAfter: hint('1') });
  await clock.advance(1_500);
  first[1]?.end({ kind: 'accepted' });
  await clock.advance(100);

  store.aheadMs = -backMs;
  store.exchanges = 0;
  const granted = ask(other, 1);
  await clock.advance(2_000 + backMs);

  expect(granted).toHaveLength(1);
  expect(store.exchanges).toBeLessThan(10);
});

test('a process that starts during a long Retry-After knows it from the store', async () => {
  const { clock, startProcess } = setUp();
  const [permit] = await Promise.all([startProcess().acquire(), clock.advance(10)]);
  permit.end({ kind: 'refused', retryAfter: hint('86400') });
  await clock.advance(20 * MINUTE);

  const rejected = startProcess()
    .acquire()
    .catch((error) => error.reason);
  await clock.advance(100);

  expect(await rejected).toBe('max_retry_after');
});

test.each([
  ['3600.5', 600_000, 'max_retry_after'],
  ['600', 600_000, 'waits'],
  // As long as the longest wait of its own, without a Retry-After.
  ['300', 10_000, 'waits'],
  ['301', 10_000, 'max_retry_after'],
])('a Retry-After of %s s of a process that waits for hours: one with a maximum of %i ms %s', async (...row) => {
  const [seconds, maxRetryAfterMs, expected] = row;
  const { clock, startProcess, send } = setUp();
  const [permit] = await send(startProcess({ maxRetryAfterMs: 7_200_000 }), 1);
  permit?.end({ kind: 'refused', retryAfter: hint(seconds) });
  await clock.advance(10);
  let result = 'waits';

  startProcess({ maxRetryAfterMs })
    .acquire()
    .catch(({ reason }) => (result = reason));
  await clock.advance(100);

  expect(result).toBe(expected);
});

test.each(['lost', 'garbled'])('a process knows its Retry-After even if the state in the store was %s', async (how) => {
  const { clock, store, startProcess, send } = setUp();
  const limiter = startProcess();
  const first = await send(limiter, 1);
  first[0]?.end({ kind: 'refused', retryAfter: hint('30') });
  await clock.advance(1_000);

  store.forget();
  if (how === 'garbled') {
    const garbled = { version: 'x', state: '{"at":', nowMs: clock.now(), keepMs: MINUTE };
    void store.exchange(STATE_NAME, '', garbled);
  }
  const granted = ask(limiter, 3);
  await clock.advance(28_000);
  expect(granted).toHaveLength(0);

  const others = ask(startProcess(), 1);
  await clock.advance(900);
  expect([...granted, ...others]).toHaveLength(0);
  await clock.advance(200);
  expect([...granted, ...others]).toHaveLength(1);
});

test('after an outage of six minutes, the store has the Retry-After of a refusal', async () => {
  const { clock, store, startProcess } = setUp();
  store.aheadMs = 60 * MINUTE;
  const link = linkTo(store);
  const limiter = startProcess({ link });
  const [permit] = await Promise.all([limiter.acquire(), clock.advance(10)]);
  link.isUp = false;
  permit.end({ kind: 'refused', retryAfter: hint('900') });
  await clock.advance(6 * MINUTE);

  link.isUp = true;
  void limiter.acquire();
  await clock.advance(2_000);
  const [other] = await Promise.all([startProcess().acquire(), clock.advance(15 * MINUTE)]);

  expect(other.sentAt - permit.sentAt).toBeGreaterThanOrEqual(15 * MINUTE);
});

/** What becomes of a call within a few seconds. */
async function outcomeOf(clock: FakeClock, call: Promise<Permit>): Promise<string> {
  const startedAt = clock.now();
  let outcome = 'waits';
  const end = (how: string) => {
    outcome = `${how} after ${clock.now() - startedAt} ms`;
  };
  call.then(
    () => end('sent'),
    ({ reason }) => end(reason),
  );
  await clock.advance(3_000);
  return outcome;
}

test.each<[string, Partial<AcquireOptions>, number?]>([
  ['waits', {}],
  ['waits', { priority: 'low' }],
  ['policy after 4 ms', { waits: false }],
  ['deadline after 4 ms', {}, 60_000],
])('after an outage, a call of an idle process %s for the gate that another one closed (%j)', async (...row) => {
  const [expected, options, leftMs = Number.POSITIVE_INFINITY] = row;
  const { clock, store, startProcess, send, serve } = setUp({ perMinute: 30 });
  const [one, other] = [startProcess(), startProcess()];
  await serve([one, other]);
  const [last] = await send(one, 1);
  store.health = 'down';
  last?.end({ kind: 'accepted' });
  await clock.advance(2_000);
  store.health = 'up';
  await clock.advance(30 * MINUTE);
  const [refused] = await send(other, 1);
  refused?.end({ kind: 'refused', retryAfter: hint('300') });
  await clock.advance(10);

  const call = one.acquire({ ...options, due: { deadlineAt: clock.now() + leftMs } });

  expect(await outcomeOf(clock, call)).toBe(expected);
});

test('while the store hangs, only the first call after a pause waits for it', async () => {
  const { clock, store, startProcess, serve } = setUp({ perMinute: 1_000 });
  const limiter = startProcess();
  await serve(limiter);
  store.health = 'silent';
  const waits = async (calls: number, everyMs: number) => {
    const waited: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      const startedAt = clock.now();
      void limiter.acquire().then((permit) => {
        waited.push(clock.now() - startedAt);
        permit.end({ kind: 'accepted' });
      });
      await clock.advance(everyMs);
    }
    return waited.filter((ms) => ms > 0);
  };

  expect(await waits(10, 1_100)).toEqual([1_000]);
  expect(await waits(100, 300)).toEqual([]);
  expect(await waits(10, 2_500)).toEqual([]);
  await clock.advance(MINUTE);
  expect(await waits(10, 1_100)).toEqual([1_000]);
});

test.each([
  [2_000, 400],
  [10_000, 2_000],
])('a call with %i ms left waits %i ms for a store to which others always write first', async (leftMs, waitedMs) => {
  const { clock, startProcess } = setUp();
  const offered: number[] = [];
  const busy = busyStore(clock, (offer) => {
    const [lease] = Object.values(parseState(offer.state)?.leases ?? {});
    offered.push((lease?.inFlight ?? 0) + (lease?.waiting ?? 0));
  });
  const startedAt = clock.now();

  const sent = startProcess({ link: busy }).acquire({ due: { deadlineAt: startedAt + leftMs } });
  await clock.advance(leftMs + 1_000);

  expect((await sent).sentAt - startedAt).toBe(waitedMs);
  expect(new Set(offered)).toEqual(new Set([1])); // it asks for no slot beside that of the call that it has sent
});

test.each([
  ['of a response', false, 300, 60],
  ['of a response', false, 100, 25],
  ['of a call without a deadline', true, 300, 60],
])('a call that arrives while the write %s is tried waits its own time', async (_, isCall, leftMs, waitedMs) => {
  const { clock, store, startProcess, send } = setUp();
  const link = { ...linkTo(store) };
  const limiter = startProcess({ link });
  const [permit] = await send(limiter, 1);
  link.exchange = busyStore(clock).exchange;
  if (isCall) ask(limiter, 1);
  else permit?.end({ kind: 'accepted' });
  await clock.advance(160);
  const startedAt = clock.now();

  const sent = limiter.acquire({ due: { deadlineAt: startedAt + leftMs } });
  await clock.advance(leftMs);

  expect((await sent).sentAt - startedAt).toBe(waitedMs);
});

test('the patience of a call counts from the time at which another request leaves room for it', async () => {
  const { clock, store, startProcess, send } = setUp({ maxConcurrent: 1 });
  const link = { ...linkTo(store) };
  const limiter = startProcess({ link });
  const [permit] = await send(limiter, 1);
  link.exchange = busyStore(clock).exchange;
  const startedAt = clock.now();
  limiter.configure(30);
  const sent = limiter.acquire({ due: { deadlineAt: startedAt + 460 } });
  await clock.advance(160);

  permit?.end({ kind: 'accepted' });
  await clock.advance(300);

  expect((await sent).sentAt - startedAt).toBe(160 + 60);
});

test.each<[string, string, number, Partial<AcquireOptions>]>([
  ['of low priority', 'deadline', 5_000, { priority: 'low' }],
  ['of normal priority', 'deadline', 5_000, {}],
  ["with onLimit 'throw'", 'policy', Number.POSITIVE_INFINITY, { waits: false }],
])('a call %s asks the store before it is rejected by an old limit', async (_, reason, leftMs, options) => {
  const { clock, startProcess, serve } = setUp({ perMinute: 'learn' });
  const [one, other] = [startProcess(), startProcess()];
  other.configure(5);
  for (let call = 0; call < 10; call += 1) await serve(other); // the sixth one tests the window
  const call = () => outcomeOf(clock, one.acquire({ ...options, due: { deadlineAt: clock.now() + leftMs } }));

  const early = await call();
  other.configure(300);
  await clock.advance(10);
  const later = await call();

  expect([early, later]).toEqual([`${reason} after 4 ms`, 'sent after 4 ms']);
});

test('after an outage, an idle process stores the refusal of its last request', async () => {
  const { clock, store, startProcess, send } = setUp();
  const [one, other] = [startProcess(), startProcess()];
  const [first, last] = await send(one, 2);
  store.health = 'down';
  first?.end({ kind: 'accepted' });
  await clock.advance(4_000);
  store.health = 'up';

  last?.end({ kind: 'refused', retryAfter: hint('30') });
  await clock.advance(10);

  expect(await outcomeOf(clock, other.acquire({ waits: false }))).toMatch('policy');
});

test('after an outage, an idle process stores that a call has arrived, even if it knows that the gate is closed', async () => {
  const { clock, store, startProcess, send } = setUp();
  const limiter = startProcess();
  const [first, last] = await send(limiter, 2);
  first?.end({ kind: 'refused', retryAfter: hint('300') });
  await clock.advance(10);
  store.health = 'down';
  last?.end({ kind: 'accepted' });
  await clock.advance(10_000);
  store.health = 'up';
  const startedAt = clock.now();

  expect(await outcomeOf(clock, limiter.acquire({ waits: false }))).toBe('policy after 0 ms');

  expect(JSON.parse(store.stateOf(STATE_NAME)).limit.calledAt).toBeGreaterThan(startedAt - 10);
});

test.each([
  ['while its requests were in flight', 'up', 100],
  ['while its requests were in flight', 'up', 5_000],
  ['from its start', 'down', 5_000],
] as const)('stored() writes the results of a process whose store was down %s', async (_, health, afterMs) => {
  const { clock, store, startProcess, send } = setUp({ perMinute: 30 });
  store.health = health;
  const limiter = startProcess();
  const granted = await send(limiter, 5);
  store.health = 'down';
  for (const permit of granted) permit.end({ kind: 'accepted' });
  await clock.advance(100);
  store.health = 'up';
  await clock.advance(afterMs);

  await Promise.all([limiter.shared?.stored(), clock.advance(10)]);

  const { limit } = JSON.parse(store.stateOf(STATE_NAME));
  expect([limit.inFlight, new AcceptedLog(limit.log).size]).toEqual([0, 5]);
});

test('the results of a process that has ended count once if its last write is sent again', async () => {
  const { clock, store, startProcess, send } = setUp({ perMinute: 30 });
  // As a Redis client does that loses its connection before the reply.
  let lost = 0;
  const link: LimitStore = {
    async exchange(...parts) {
      lost -= 1;
      if (lost === 0) await store.exchange(...parts);
      return store.exchange(...parts);
    },
  };
  const limiter = startProcess({ link });
  const granted = await send(limiter, 5);
  for (const permit of granted) permit.end({ kind: 'accepted' });
  lost = 1;

  await Promise.all([limiter.shared?.stored(), clock.advance(20)]);

  const { limit, leases } = JSON.parse(store.stateOf(STATE_NAME));
  expect([new AcceptedLog(limit.log).size, leases]).toEqual([5, {}]);
});

test('a store that fails when a process ends is not reported: the process limits no further calls', async () => {
  const { clock, store, outages, startProcess, serve } = setUp();
  const limiter = startProcess();
  await serve(limiter);
  store.health = 'silent';

  await Promise.all([limiter.shared?.stored(), clock.advance(1_000)]);

  expect(outages).toEqual([]);
});

test('a process that has ended uses no part of the limit in an outage, and one that is idle does', async () => {
  const { clock, store, startProcess, send, serve } = setUp({ perMinute: 40 });
  const [one, idle, busy] = [startProcess(), startProcess(), startProcess()];
  await serve([one, idle]);
  const unfinished = await send(busy, 1);
  for (let ended = 0; ended < 10; ended += 1) {
    const process = startProcess();
    await serve(process);
    await Promise.all([process.shared?.stored(), clock.advance(10)]);
  }
  await Promise.all([busy.shared?.stored(), clock.advance(10)]);
  const leases = () => Object.keys(JSON.parse(store.stateOf(STATE_NAME)).leases).length;
  const before = leases();
  unfinished[0]?.end({ kind: 'accepted' });
  await clock.advance(10);
  const after = leases();
  await serve(one);

  store.health = 'down';
  ask(one, 1);
  await clock.advance(10);

  expect([before, after, one.limits().perMinute]).toEqual([3, 2, 20]);
});

test('a process that has been idle when the store fails uses its part', async () => {
  const { clock, store, startProcess, serve } = setUp({ perMinute: 40 });
  const processes = [1, 2, 3, 4].map(() => startProcess());
  await serve(processes);
  await serve(processes);
  await clock.advance(5 * MINUTE);

  store.health = 'down';
  const granted = processes.map((limiter) => ask(limiter, 40));
  await clock.advance(300);

  expect(granted.map(({ length }) => length)).toEqual([10, 10, 10, 10]);
});

test('a request that the service accepts closes no gate for the other processes', async () => {
  const { store, startProcess, serve } = setUp();

  await serve(startProcess(), 2);

  const { limit } = JSON.parse(store.stateOf(`${LIMITER_STATE_VERSION}:key`));
  expect(limit.gate).toMatchObject({ opensAt: null, test: 'none' });
});

test('a call aborted during the exchange returns its slot', async () => {
  const { clock, startProcess } = setUp({ perMinute: 1 });
  const [one, other] = [startProcess(), startProcess()];
  const signal = new Cancellation();
  const aborted = one.acquire({ signal }).catch((reason) => reason);
  await clock.advance(1); // the store has it, and has not responded

  signal.cancel('changed my mind');
  const granted = ask(other, 1);
  await clock.advance(200);

  expect(await aborted).toBe('changed my mind');
  expect(granted).toHaveLength(1);
  expect(one.limits()).toMatchObject({ inFlight: 0, waiting: 0 });
});

test('a slot granted while the service refuses another call is returned', async () => {
  const { clock, startProcess, send } = setUp({ perMinute: 100 });
  const [one, other] = [startProcess(), startProcess()];
  const first = await send(one, 1);
  const second = ask(one, 1);
  await clock.advance(1); // the store has it, and has not responded

  first[0]?.end({ kind: 'refused', retryAfter: hint('30') });
  await clock.advance(29_000);
  const early = second.length;
  await clock.advance(2_000);

  expect([early, second.length]).toEqual([0, 1]);
  expect([one, other].map((limiter) => limiter.limits().inFlight)).toEqual([1, 0]);
});

test('a store that refuses every write stops no process', async () => {
  const { outages, startProcess } = setUp({
    shared: {
      name: 'key',
      store: { exchange: async () => ({ isWritten: false, version: `${Math.random()}`, state: '', nowMs: 0 }) },
    },
  });

  const granted = ask(startProcess(), 2);
  for (let turn = 0; turn < 100; turn += 1) await quiet();

  expect(granted).toHaveLength(2);
  expect(outages).toEqual(['none of 1000 writes was accepted']);
});

test.each([
  [40, 1],
  [4, 25],
])('of %i processes with %i waiting calls each, one that just sent a call wants the limit', async (...counts) => {
  const [count, calls] = counts;
  const { clock, startProcess } = setUp({ perMinute: 'learn' });
  const processes = Array.from({ length: count }, () => startProcess());
  const granted = processes.map((limiter) => ask(limiter, calls));
  await clock.advance(200);
  const first = granted.flat();
  expect(first).toHaveLength(16); // as many as one process would send

  for (const permit of first) permit.end({ kind: 'accepted' });
  await clock.advance(200);

  const wanting = processes.filter(({ isLimitWanted }) => isLimitWanted);
  expect(wanting).toHaveLength(1);
  expect(wanting[0]?.limits().inFlight).toBeGreaterThan(0);

  wanting[0]?.configure(30);
  await clock.advance(200);
  expect(processes.some(({ isLimitWanted }) => isLimitWanted)).toBe(false);
});

test('a process with as few calls as every plan allows does not want the limit', async () => {
  const { clock, startProcess } = setUp({ perMinute: 'learn' });
  const limiter = startProcess();
  const granted = ask(limiter, 30);
  for (let round = 0; round < 30; round += 1) {
    await clock.advance(10);
    for (const permit of granted) permit.end({ kind: 'accepted' });
    expect(limiter.isLimitWanted).toBe(false);
  }
  expect(granted).toHaveLength(30);
});

test('while the store fails, a process uses its part of a limit that it reads', async () => {
  const { clock, store, startProcess, serve } = setUp({ perMinute: 'learn' });
  const [one, other] = [startProcess(), startProcess()];
  await serve([one, other]);
  store.health = 'down';
  ask(one, 1);
  await clock.advance(10);

  one.configure(40);

  expect(one.limits().perMinute).toBe(20);
});

/** The clocks of the store and of the second process differ from that of the first. */
const differences = [0, 3_600_000, -3_600_000].flatMap((storeMs) =>
  [0, 3_600_000].map((otherMs) => [storeMs, otherMs]),
);

test.each(differences)(
  'with a store %i ms and a process %i ms ahead, each process waits in its own time',
  async (storeMs = 0, otherMs = 0) => {
    const { clock, store, startProcess, serve } = setUp();
    store.aheadMs = storeMs;
    const processes = [startProcess(), startProcess({ aheadMs: otherMs })];
    const startedAt = clock.now();
    for (const limiter of processes) await serve(limiter, 2);
    const granted = processes.map((limiter) => ask(limiter, 1));
    /** Milliseconds until the next slot of each process. */
    const waits = () =>
      processes.map((limiter, other) => limiter.limits().nextSlotAt.getTime() - clock.now() - other * otherMs);

    await clock.advance(10_000);
    const whileShared = waits();
    store.health = 'down';
    await clock.advance(10_000);
    const alone = waits();
    await clock.advance(startedAt + MINUTE - clock.now());
    const early = granted.flat().length;
    await clock.advance(100);

    // The responses of the two processes arrive after 10 and 30 ms, and 6 ms is the longest way to the store.
    for (const wait of whileShared) expect(Math.abs(wait - (MINUTE - 10_030))).toBeLessThanOrEqual(50);
    for (const wait of alone) expect(Math.abs(wait - (MINUTE - 20_030))).toBeLessThanOrEqual(50);
    expect([early, granted.flat().length]).toEqual([0, 2]);
  },
);

test.each(differences)(
  'with a store %i ms and a process %i ms ahead, a refusal closes the gate of both for as long',
  async (storeMs = 0, otherMs = 0) => {
    const { clock, store, startProcess, send } = setUp({ perMinute: 100 });
    store.aheadMs = storeMs;
    const [one, other] = [startProcess(), startProcess({ aheadMs: otherMs })];
    const [first, second] = [await send(one, 2), await send(other, 1)];
    first[0]?.end({ kind: 'accepted' });
    await clock.advance(10);
    first[1]?.end({ kind: 'refused', retryAfter: hint('30') });
    await clock.advance(10);
    second[0]?.end({ kind: 'refused', retryAfter: hint('40') });
    const later = [ask(one, 1), ask(other, 1)];
    await clock.advance(20_000);

    const gates = [one, other].map((limiter, place) => {
      const { gate } = limiter.limits();
      return gate === 'open' ? 0 : gate.until.getTime() - clock.now() - place * otherMs;
    });
    expect(gates).toEqual([20_000, 20_000]);
    await clock.advance(19_000);
    expect(later.flat()).toHaveLength(0);
    await clock.advance(2_000);
    expect(later.flat()).toHaveLength(1);

    const before = one.limits().window; // the other request was in flight at the first refusal
    later.flat()[0]?.end({ kind: 'refused', retryAfter: hint('1') });
    await clock.advance(1_500);
    expect([before, one.limits().window, other.limits().window]).toEqual(['fixed', 'token-bucket', 'token-bucket']);
  },
);

test('while the store is silent, a process with waiting calls sleeps until something is due', async () => {
  const { clock, store, startProcess, serve } = setUp({ perMinute: 1 });
  let sleeps = 0;
  const limiter = startProcess({ onSleep: () => (sleeps += 1) });
  await serve(limiter);

  store.health = 'silent';
  ask(limiter, 1);
  await clock.advance(20_000);

  expect(sleeps).toBeLessThan(100);
});

test('a refusal that arrives while a process reaches the store again applies to all', async () => {
  const { clock, store, startProcess, send } = setUp({ perMinute: 100 });
  const link = linkTo(store);
  const [one, other] = [startProcess({ link }), startProcess()];
  const first = await send(one, 1);
  link.isUp = false;
  first[0]?.end({ kind: 'accepted' });
  await clock.advance(10);
  const granted = await send(one, 2);
  granted[0]?.end({ kind: 'accepted' });
  await clock.advance(MINUTE + 1_000);

  link.isUp = true;
  ask(one, 1);
  await clock.advance(1); // the store has it, and has not responded
  granted[1]?.end({ kind: 'refused', retryAfter: hint('30') });
  await clock.advance(100);
  const early = ask(other, 1);
  await clock.advance(29_000);

  expect(early).toHaveLength(0);
});

test('a refusal of a call sent alone reaches a store that has no slot free', async () => {
  const { clock, store, startProcess, send, serve } = setUp({ perMinute: 8 });
  const link = linkTo(store);
  const [one, other] = [startProcess({ link }), startProcess()];
  const sent = await send(other, 7);
  await serve(one);
  link.isUp = false;
  const alone = await send(one, 1);
  await clock.advance(1_500);

  link.isUp = true;
  const last = ask(one, 1);
  await clock.advance(1);
  alone[0]?.end({ kind: 'accepted' });
  last[0]?.end({ kind: 'refused', retryAfter: hint('30') });
  await clock.advance(3_000);
  for (const permit of sent) permit.end({ kind: 'unused' });
  const early = await send(other, 1);

  expect([alone.length, last.length, early.length]).toEqual([1, 1, 0]);
});

test('a refusal while a process could not reach the store delays all just until its wait ends', async () => {
  const { clock, store, startProcess, send } = setUp({ perMinute: 100 });
  const link = linkTo(store);
  const [one, other] = [startProcess({ link }), startProcess()];
  link.isUp = false;
  const granted = await send(one, 1);
  granted[0]?.end({ kind: 'refused', retryAfter: hint('75') });
  const later = [ask(one, 1)];
  await clock.advance(65_000);
  const meanwhile = await send(other, 1);
  meanwhile[0]?.end({ kind: 'accepted' });

  link.isUp = true;
  await clock.advance(1_100);
  later.push(ask(other, 1));
  await clock.advance(8_500);
  const early = later.flat().length;
  await clock.advance(2_000);

  expect([early, later.flat().length]).toEqual([0, 2]);
});

test.each([1_000, 3 * MINUTE])('a limit read %i ms before the store is reached applies to all', async (outageMs) => {
  const { clock, store, startProcess, send } = setUp({ perMinute: 'learn' });
  const link = linkTo(store);
  const [one, other] = [startProcess({ link }), startProcess()];
  link.isUp = false;
  const granted = await send(one, 1);
  one.configure(40);
  granted[0]?.end({ kind: 'unused' });
  await clock.advance(outageMs);

  link.isUp = true;
  ask(one, 1);
  ask(other, 1);
  await clock.advance(100);
  ask(other, 1);
  await clock.advance(100);

  expect([one, other].map((limiter) => limiter.limits().perMinute)).toEqual([40, 40]);
});

test('after an hour without the store, the requests of the first minute no longer count', async () => {
  const { clock, store, startProcess, serve } = setUp();
  const link = linkTo(store);
  const [one, other] = [startProcess({ link }), startProcess()];
  for (const limiter of [one, other]) await serve(limiter);
  link.isUp = false;
  for (let call = 0; call < 2; call += 1) await serve(one);
  await clock.advance(60 * MINUTE);

  link.isUp = true;
  for (const limiter of [other, one]) await serve(limiter);
  const sent = [await serve(other), await serve(other), await serve(other)];

  expect(sent).toEqual([1, 1, 0]);
});

test('a process that waits is served before one that begins to wait later', async () => {
  const { clock, store, startProcess, serve } = setUp({ perMinute: 1 });
  const slow: LimitStore = {
    exchange: async (...parts) => {
      await clock.sleep(50);
      return store.exchange(...parts);
    },
  };
  await serve(startProcess());
  const earlier = ask(startProcess({ link: slow }), 1);
  await clock.advance(MINUTE - 1_000);
  const later = ask(startProcess(), 1);

  await clock.advance(2_000);

  expect([earlier.length, later.length]).toEqual([1, 0]);
});

test.each([
  ['whose call was refused', { kind: 'refused', retryAfter: hint('30') }],
  ['that called quota() for the limit', { kind: 'accepted' }],
] as const)('a process %s keeps its place before one that began to wait later', async (_, end) => {
  const { clock, startProcess, serve } = setUp({ perMinute: 1 });
  const [one, other] = [startProcess(), startProcess()];
  await serve(startProcess());
  const granted = ask(one, 2);
  await clock.advance(10);
  const later = ask(other, 1);
  while (granted.length === 0) await clock.advance(10);

  if (end.kind === 'accepted') one.configure(1);
  granted[0]?.end(end);
  await clock.advance(MINUTE + 2_000);

  expect([granted.length, later.length]).toEqual([2, 0]);
});

test('a process whose waiting call was aborted delays no other', async () => {
  const { clock, startProcess, serve, send } = setUp({ perMinute: 1 });
  const [one, other] = [startProcess(), startProcess()];
  await serve(startProcess());
  const leaving = new Cancellation();
  const aborted = one.acquire({ signal: leaving }).catch(() => 'aborted');
  await clock.advance(MINUTE - 2_000);
  const granted = await send(other, 1);

  leaving.cancel('left');
  await clock.advance(2_050);

  expect(await aborted).toBe('aborted');
  expect(granted).toHaveLength(1);
});

test.each([
  ['a response to another', 'twenty times', false, 20],
  ['a window', 'about once', true, 1],
])('a process that waits for %s asks the store %s a second', async (_, _often, hasResponse, perSecond) => {
  const { clock, store, startProcess, send } = setUp({ perMinute: 1 });
  const [one, other] = [startProcess(), startProcess()];
  const first = await send(one, 1);
  if (hasResponse) first[0]?.end({ kind: 'accepted' });
  await clock.advance(10);
  const granted = await send(other, 1);

  store.exchanges = 0;
  await clock.advance(25_000);

  expect(granted).toHaveLength(0);
  expect(store.exchanges / 25 / perSecond).toBeGreaterThan(0.8);
  expect(store.exchanges / 25 / perSecond).toBeLessThan(1.3);
});

test('a call on its own takes two exchanges, for its slot and its result, and leaves no timer', async () => {
  const { clock, store, startProcess, send } = setUp();
  const granted = await send(startProcess(), 1);
  await clock.advance(1_000);
  const forSlot = store.exchanges;

  granted[0]?.end({ kind: 'accepted' });
  await clock.advance(1_000);

  expect([forSlot, store.exchanges, clock.pending]).toEqual([1, 2, 0]);
});

test('while as many calls as may be are in flight, a process asks the store nothing', async () => {
  const { clock, store, startProcess } = setUp({ perMinute: 100, maxConcurrent: 1 });
  const limiter = startProcess();
  const granted = ask(limiter, 1);
  await clock.advance(100);

  store.exchanges = 0;
  granted.push(...ask(limiter, 3));
  await clock.advance(1_000);

  expect(limiter.limits()).toMatchObject({ inFlight: 1, waiting: 3 });
  expect(store.exchanges).toBe(0);
});

test('calls that wait for slots are sent as those become free, without a response in between', async () => {
  const { clock, startProcess, send } = setUp();
  const [one, other] = [startProcess(), startProcess()];
  const used = await send(other, 4);
  for (const permit of used.splice(0, 2)) permit.end({ kind: 'accepted' });
  const granted = ask(one, 4); // their responses take longer than a minute
  await clock.advance(5_000);
  for (const permit of used) permit.end({ kind: 'accepted' });

  const counts: number[] = [];
  for (const ms of [MINUTE - 6_000, 2_000, 5_000]) {
    await clock.advance(ms);
    counts.push(granted.length);
  }

  expect(counts).toEqual([0, 2, 4]);
});

test('a call beside a waiting one of low priority asks the store at once', async () => {
  const { clock, startProcess, serve } = setUp();
  const limiter = startProcess();
  await serve(limiter);
  const low: Permit[] = [];
  for (let call = 0; call < 3; call += 1) void limiter.acquire({ priority: 'low' }).then((permit) => low.push(permit));
  await clock.advance(2_500);

  const granted = ask(limiter, 1);
  await clock.advance(10);

  expect([low.length, granted.length]).toEqual([2, 1]);
});

test('a response that arrives during an exchange does not delay the calls that it grants', async () => {
  const { clock, store, startProcess, send } = setUp({ perMinute: 100 });
  const limiter = startProcess();
  const first = await send(limiter, 1);
  const second = ask(limiter, 1);
  await clock.advance(1); // the store has it, and has not responded

  first[0]?.end({ kind: 'accepted' });
  await clock.advance(1);
  const inTime = second.length;
  await clock.advance(100);

  expect(inTime).toBe(1);
  expect(store.writes).toBe(3);
});

test('while the store fails, a process tries it once a second, however many responses arrive', async () => {
  const { clock, store, startProcess } = setUp({ perMinute: 1_000 });
  const limiter = startProcess();
  ask(limiter, 1);
  await clock.advance(10);
  store.health = 'down';
  store.exchanges = 0;

  for (let round = 0; round < 100; round += 1) {
    const granted = ask(limiter, 2);
    await clock.advance(100);
    for (const permit of granted) permit.end({ kind: 'accepted' });
  }

  expect(store.exchanges).toBeGreaterThan(8);
  expect(store.exchanges).toBeLessThan(12);
});

test('while the store fails, a process that knows the window waits as its refusal asks', async () => {
  const { clock, store, startProcess, serve } = setUp({ perMinute: 40 });
  const [one, other] = [startProcess(), startProcess()];
  const met = [ask(one, 3), ask(other, 3)];
  await clock.advance(10);
  const [refused, ...accepted] = met.flat();
  for (const permit of accepted) permit.end({ kind: 'accepted' });
  await clock.advance(10);
  refused?.end({ kind: 'refused', retryAfter: hint('60') });
  await clock.advance(10);
  const known = one.limits().window;
  await clock.advance(MINUTE);
  for (const limiter of [other, one]) {
    await serve(limiter);
  }
  store.health = 'down';
  const first = ask(one, 1);
  await clock.advance(100);
  first[0]?.end({ kind: 'refused', retryAfter: hint('2') });
  const second = ask(one, 1);
  await clock.advance(2_100);

  expect([known, first.length, second.length]).toEqual(['fixed', 1, 1]);
});
