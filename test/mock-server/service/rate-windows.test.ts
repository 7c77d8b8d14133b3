import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RateLimit, rateWindows } from '../../../src/mock-server/service/rate-windows.ts';
import { rateModels } from './rate-models.ts';

const kinds = Object.keys(rateWindows) as (keyof typeof rateWindows)[];
const START = Date.UTC(2026, 0, 31, 23, 59, 30, 500);
const MINUTE_MS = 60_000;
const perMinute = (requests: number): RateLimit => ({ requests, windowMs: MINUTE_MS });
/** A sliding counter weighs the requests of a window until the end of the next one. */
const longestWaitMs = (kind: string, windowMs = MINUTE_MS) => (kind === 'sliding-counter' ? 2 * windowMs : windowMs);

/** Sends `count` requests at `now` and returns how many were accepted. */
function send(window: InstanceType<(typeof rateWindows)['fixed-epoch']>, requests: number, now: number, count: number) {
  const limit = perMinute(requests);
  let served = 0;
  for (let index = 0; index < count; index += 1) {
    if (window.waitMs(limit, now) > 0) continue;
    window.count(limit, now);
    served += 1;
  }
  return served;
}

test.each(kinds)('%s: requests counted at once are as many counted one by one', (kind) => {
  for (const counted of [3, 9]) {
    const [together, singly] = [new rateWindows[kind](), new rateWindows[kind]()];
    for (const now of [START, START + 20_000]) {
      together.count(perMinute(5), now, counted);
      for (let one = 0; one < counted; one += 1) singly.count(perMinute(5), now);
    }
    expect(together.save()).toEqual(singly.save());
  }
});

const steps = fc.array(
  fc.record({
    gap: fc.oneof(
      fc.constant(0),
      fc.double({ min: 0, max: 0.05, noNaN: true }),
      fc.double({ min: 0, max: 2.2, noNaN: true }),
    ),
    burst: fc.integer({ min: 1, max: 4 }),
    isReloaded: fc.boolean(),
  }),
  { maxLength: 40 },
);

/** Of any size: the windows of the service are a minute long, those of a key can be from a millisecond to a day. */
const limits = fc.record({
  requests: fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 1_000_000 })),
  windowMs: fc.oneof(
    fc.constant(MINUTE_MS),
    fc.integer({ min: 1, max: 2_000 }),
    fc.integer({ min: 1, max: 86_400_000 }),
  ),
});

/** A window and its model: asserts that both return the same, now and at the end of the wait. */
class Compared {
  now = START;
  readonly #kind;
  readonly #limit: RateLimit;
  readonly #counted: number[] = [];
  #window;

  constructor(kind: (typeof kinds)[number], limit: RateLimit) {
    this.#kind = kind;
    this.#limit = limit;
    this.#window = new rateWindows[kind]();
  }

  /** Moves the time by a number of windows. */
  pass(windows: number) {
    this.now += Math.round(windows * this.#limit.windowMs);
  }

  reload() {
    this.#window = new rateWindows[this.#kind](JSON.parse(JSON.stringify(this.#window.save())));
  }

  send({ countsRefused }: { readonly countsRefused: boolean }) {
    const waitMs = this.#window.waitMs(this.#limit, this.now);
    expect(waitMs === 0).toBe(this.#fits(this.now));
    if (waitMs > 0) this.#expectEdge(waitMs);
    if (waitMs > 0 && !countsRefused) return;
    this.#window.count(this.#limit, this.now);
    this.#counted.push(this.now);
  }

  #expectEdge(waitMs: number) {
    expect(waitMs).toBeLessThanOrEqual(longestWaitMs(this.#kind, this.#limit.windowMs));
    expect(this.#fits(this.now + waitMs)).toBe(true);
    expect(this.#fits(this.now + waitMs - 1)).toBe(false);
  }

  #fits(time: number): boolean {
    return rateModels[this.#kind](this.#counted, this.#limit, time);
  }
}

const counting = [
  ...kinds.map((kind) => ({ kind, countsRefused: false })),
  ...kinds.filter((kind) => kind !== 'token-bucket').map((kind) => ({ kind, countsRefused: true })),
];

test.each(counting)('$kind does what its model does, to the millisecond (counts refused: $countsRefused)', (given) => {
  const { kind, countsRefused } = given;
  fc.assert(
    fc.property(limits, fc.nat(MINUTE_MS), steps, (limit, offsetMs, moves) => {
      const compared = new Compared(kind, limit);
      compared.now += offsetMs;
      for (const { gap, burst, isReloaded } of moves) {
        compared.pass(gap);
        if (isReloaded) compared.reload();
        for (let index = 0; index < burst; index += 1) compared.send({ countsRefused });
      }
    }),
  );
});

test.each(kinds)('%s has its whole limit back at fullAt, and not a millisecond before', (kind) => {
  const window = new rateWindows[kind]();
  send(window, 30, START, 30);

  const fullAt = window.fullAt(perMinute(30), START);

  const early = new rateWindows[kind](window.save());
  expect(early.fullAt(perMinute(30), fullAt - 1)).toBe(fullAt);
  expect(send(early, 30, fullAt - 1, 30)).toBeLessThan(30);
  expect(window.used(perMinute(30), fullAt)).toBe(0);
  expect(send(window, 30, fullAt, 60)).toBe(30);
});

test.each(kinds)('%s gives the present as fullAt while nothing is used', (kind) => {
  const unused = new rateWindows[kind]();
  const idle = new rateWindows[kind]();
  send(idle, 30, START, 30);

  const later = START + 60 * MINUTE_MS;

  expect(unused.fullAt(perMinute(30), START)).toBe(START);
  expect(idle.fullAt(perMinute(30), later)).toBe(later);
  expect(idle.used(perMinute(30), later)).toBe(0);
});

test.each(kinds)('a restored %s does not change the state from which it was restored', (kind) => {
  const window = new rateWindows[kind]();
  send(window, 30, START, 3);
  const saved = window.save();
  const copy = [...saved];

  send(new rateWindows[kind](saved), 30, START, 30);

  expect(saved).toEqual(copy);
});

test.each([
  [0, 30],
  [15_000, 23],
  [30_000, 15],
  [59_999, 1],
  [60_000, 0],
])('sliding-counter: %i ms into the next minute, %i of 30 requests still count', (ms, used) => {
  const window = new rateWindows['sliding-counter']();
  const nextMinute = Math.ceil(START / MINUTE_MS) * MINUTE_MS;
  send(window, 30, nextMinute - 1, 30);

  expect(window.used(perMinute(30), nextMinute + ms)).toBe(used);
});

test.each(kinds)('%s applies a larger limit immediately', (kind) => {
  const window = new rateWindows[kind]();
  send(window, 30, START, 30);

  expect(send(window, 300, START, 400)).toBe(270);
});

test.each(kinds)('%s predicts the next slot to the millisecond after the limit becomes smaller', (kind) => {
  const window = new rateWindows[kind]();
  for (let request = 0; request < 100; request += 1) send(window, 300, START + 10 * request, 1);
  const now = START + 1_000;

  const waitMs = window.waitMs(perMinute(30), now);

  expect(waitMs).toBeGreaterThan(0);
  expect(waitMs).toBeLessThanOrEqual(longestWaitMs(kind));
  const early = new rateWindows[kind](window.save());
  expect(send(early, 30, now + waitMs - 1, 1)).toBe(0);
  expect(send(window, 30, now + waitMs, 1)).toBe(1);
});

test('a sliding log needs no more memory after a hundred thousand requests than after a thousand', () => {
  const window = new rateWindows['sliding-log']();
  let now = START;

  for (let request = 0; request < 100_000; request += 1) {
    now += 70;
    send(window, 1000, now, 1);
  }

  expect(window.save().length).toBeLessThanOrEqual(1000);
});
