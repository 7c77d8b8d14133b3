import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { LATEST_MS } from '../../../src/mock-server/clock/clock.ts';
import { createMockServer, type MockServer } from '../../../src/mock-server/index.ts';
import { inLongRuns } from '../../helpers/long-tests.ts';
import { mockWithKey, STILL, sender } from '../../helpers/mock-with-key.ts';

const WINDOWS = ['sliding-log', 'fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'] as const;

const send = fc.record({
  kind: fc.constant('send' as const),
  key: fc.nat(9),
  path: fc.constantFrom('/api/v1/latest', '/api/v1/quota', '/api/v1/latest?base=EUR&symbols=JPY', '/nothing'),
  times: fc.constantFrom(1, 2, 31),
});

const move = fc.oneof(
  { weight: 9, arbitrary: send },
  fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(100_000) }),
  fc.record({ kind: fc.constant('key' as const), key: fc.nat(9) }),
  fc.record({ kind: fc.constant('revoke' as const), key: fc.nat(9) }),
  fc.record({ kind: fc.constant('plan' as const), key: fc.nat(9) }),
  fc.record({
    kind: fc.constant('outage' as const),
    status: fc.constantFrom(500, 503),
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    forMs: fc.integer({ min: 1, max: 200_000 }),
    times: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({ kind: fc.constant('freeze' as const), frozen: fc.boolean() }),
  fc.record({ kind: fc.constant('space' as const) }),
  fc.record({ kind: fc.constant('data' as const), times: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('account' as const) }),
  fc.record({
    kind: fc.constant('switch' as const),
    rateHeaders: fc.constantFrom('none' as const, 'x-ratelimit' as const),
  }),
);

type Move = typeof move extends fc.Arbitrary<infer Value> ? Value : never;
type KeyMove = Extract<Move, { readonly kind: 'send' | 'key' | 'revoke' | 'plan' }>;

const moves = fc.array(move, { maxLength: 25, size: 'max' });

/** Performs the actions and records all output of the mock. `keys` contains the active keys. */
class Story {
  readonly transcript: unknown[] = [];
  readonly mock: MockServer;
  readonly keys: { readonly id: string; readonly key: string; readonly accountId: string }[];

  constructor(mock: MockServer, keys: Story['keys'] = []) {
    this.mock = mock;
    this.keys = [...keys];
  }

  async play(moves: readonly Move[]) {
    for (const next of moves) {
      const outcome = await this.#make(next);
      this.transcript.push(outcome);
    }
    return this;
  }

  async #make(next: Move): Promise<unknown> {
    if (next.kind === 'advance') return await this.mock.clock.advance(next.ms);
    if (next.kind === 'outage') return this.#addOutage(next);
    if (next.kind === 'freeze') return this.#freeze(next.frozen);
    if (next.kind === 'space') return await this.#openSpace();
    if (next.kind === 'data') return this.#addData(next.times);
    if (next.kind === 'account') return this.mock.accounts.create();
    if (next.kind === 'switch') return this.mock.behaviour.set({ rateHeaders: next.rateHeaders });
    return await this.#useKey(next);
  }

  async #useKey(next: KeyMove): Promise<unknown> {
    if (next.kind === 'key') return this.keys.push(this.mock.createKey({ plan: 'free' }));
    const key = this.keys[next.key % Math.max(1, this.keys.length)];
    if (key === undefined) return 'no key yet';
    if (next.kind === 'revoke') return this.mock.keys.revoke(key.id);
    if (next.kind === 'plan') return this.mock.accounts.setPlan(key.accountId, 'developer');
    return await this.#send(key.key, next.path, next.times);
  }

  #addOutage({ kind: _, status, ...when }: Extract<Move, { readonly kind: 'outage' }>) {
    return this.mock.rules.add({ ...when, respond: { status } });
  }

  #addData(times: number) {
    const respond = [{ data: 1 }, { data: 2 }, { data: 3 }];
    return this.mock.rules.add({ match: { query: { base: 'EUR' } }, times, respond });
  }

  #freeze(frozen: boolean) {
    if (frozen) this.mock.clock.freeze();
    else this.mock.clock.resume();
    return this.mock.clock.isFrozen;
  }

  async #openSpace() {
    await using space = this.mock.space();
    const { status, text } = await sender(this.mock, space.key)();
    return [space.name, space.key, status, text];
  }

  async #send(key: string, path: string, times: number) {
    const responses: unknown[] = [];
    for (let time = 0; time < times; time += 1) {
      const { status, headers, text } = await sender(this.mock, key)(path);
      responses.push(status, [...headers], text);
    }
    return responses;
  }
}

/** Most other moves need a key. */
const FIRST_KEY: Move = { kind: 'key', key: 0 };
/** A snapshot between the uses of two rules and the requests of a window. */
const IN_BETWEEN: [Move[], Move[]] = [
  [
    { kind: 'data', times: 4 },
    { kind: 'outage', status: 500, probability: 1, forMs: 1, times: 3 },
    { kind: 'send', key: 0, path: '/api/v1/latest?base=EUR&symbols=JPY', times: 2 },
  ],
  (['/api/v1/latest?base=EUR&symbols=JPY', '/api/v1/quota'] as const).map((path) => {
    return { kind: 'send', key: 0, path, times: 31 };
  }),
];

test.each(WINDOWS)('a restored snapshot continues exactly like the original: %s', async (rateWindow) => {
  await fc.assert(
    fc.asyncProperty(moves, moves, async (before, after) => {
      const behaviour = { rateWindow, quotaEndpointBucket: 'separate' } as const;
      const original = await new Story(createMockServer({ clock: STILL, behaviour })).play([FIRST_KEY, ...before]);
      const snapshot = JSON.parse(JSON.stringify(original.mock.snapshot()));
      const copy = createMockServer({ seed: 99, clock: STILL });
      copy.restore(snapshot);

      const first = await new Story(original.mock, original.keys).play(after);
      original.mock.restore(snapshot);
      const again = await new Story(original.mock, original.keys).play(after);

      expect(again.transcript).toEqual(first.transcript);
      expect((await new Story(copy, original.keys).play(after)).transcript).toEqual(first.transcript);
    }),
    { numRuns: inLongRuns(12, 2), examples: [IN_BETWEEN] },
  );
});

test('the keys before a snapshot fill the plan after it is restored, without revoked ones', () => {
  const mock = createMockServer({ clock: STILL });
  const { id: accountId } = mock.accounts.create({ plan: 'developer' });
  mock.accounts.confirm(accountId);
  const [first] = [1, 2, 3].map(() => mock.keys.create({ accountId }));
  mock.keys.revoke(first!.id);

  mock.restore(mock.snapshot());

  mock.keys.create({ accountId });
  expect(() => mock.keys.create({ accountId })).toThrow(expect.objectContaining({ code: 'key_limit_reached' }));
  expect(mock.keys.get(first!.id).state).toBe('revoked');
});

test('a snapshot has the rules; a function is that of the current rule with its id', async () => {
  const { mock, key, send } = mockWithKey();
  mock.rules.add({ id: 'plain', respond: { data: { rates: { EUR: 1 } } } });
  mock.rules.add({ id: 'function', respond: () => ({ data: 'function' }), times: 2 });
  await send();
  const snapshot = JSON.parse(JSON.stringify(mock.snapshot()));
  await send();

  mock.restore(snapshot);
  const restored = createMockServer({ clock: STILL });
  const warning = vi.spyOn(process, 'emitWarning').mockReturnValue();
  restored.restore(snapshot);

  expect(warning.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining('The rule function of the')]);
  expect(mock.rules.list().map(({ id, used, hasFunction }) => [id, used, hasFunction])).toEqual([
    ['plain', 0, false],
    ['function', 1, true],
  ]);
  expect((await send()).json().data).toBe('function');
  expect(restored.rules.list().map(({ id }) => id)).toEqual(['plain']);
  expect((await sender(restored, key)()).json().data).toEqual({ rates: { EUR: 1 } });
});

test('later events do not change a snapshot', async () => {
  const story = await new Story(createMockServer({ clock: STILL })).play([
    { kind: 'key', key: 0 },
    { kind: 'send', key: 0, path: '/api/v1/latest', times: 2 },
  ]);
  const snapshot = story.mock.snapshot();
  const text = JSON.stringify(snapshot);

  await story.play([{ kind: 'send', key: 0, path: '/api/v1/latest', times: 31 }]);
  story.mock.restore(snapshot);
  await story.play([{ kind: 'send', key: 0, path: '/api/v1/latest', times: 31 }]);

  expect(JSON.stringify(snapshot)).toBe(text);
});

test('reset clears all state and restarts the clock and the random numbers', async () => {
  const mock = createMockServer({ clock: STILL });
  const untouched = JSON.stringify(mock.snapshot());
  const moves: Move[] = [
    { kind: 'key', key: 0 },
    { kind: 'send', key: 0, path: '/api/v1/latest', times: 31 },
    { kind: 'data', times: 2 },
    { kind: 'account' },
    { kind: 'outage', status: 503, probability: 0.5, forMs: 9000, times: 9 },
    { kind: 'advance', ms: 5000 },
  ];
  const first = await new Story(mock).play(moves);
  mock.behaviour.set({ rateWindow: 'token-bucket' });

  mock.reset();

  expect(JSON.stringify(mock.snapshot())).toBe(untouched);
  expect(mock.journal.list()).toEqual([]);
  expect((await new Story(mock).play(moves)).transcript).toEqual(first.transcript);
});

test.each([[undefined], [null], [{}], [{ version: 2 }], ['text']])('%j is refused as a snapshot', (snapshot) => {
  const message = expect.stringMatching(/expected version 1.*mock\.snapshot\(\)/);
  const error = expect.objectContaining({ code: 'invalid_snapshot', message });

  expect(() => createMockServer().restore(snapshot as never)).toThrow(error);
});

const [KEY, ACCOUNT] = [{ id: 'key_1', accountId: 'account_1' }, { id: 'account_1' }];

test.each<[string, object]>([
  ['version', { version: 2 }],
  ['now', { now: -1 }],
  ['now', { now: Number.NaN }],
  ['now', { now: 1e300 }],
  ['accounts[0].plan', { accounts: [{ ...ACCOUNT, plan: 'gold' }] }],
  ['keys[0].hash', { keys: [{ ...KEY, hash: 'x' }] }],
  ['keys[0].used', { keys: [{ ...KEY, used: -5 }] }],
  ['keys[0].window', { keys: [{ ...KEY, window: 'x' }] }],
  ['keys[0].window[0]', { keys: [{ ...KEY, window: [1e300] }] }],
  ['keys[0].createdAt', { keys: [{ ...KEY, createdAt: -1e300 }] }],
  ['keys[0].usedFrom', { keys: [{ ...KEY, usedFrom: -1e300 }] }],
  ['keys[0].retryAt', { keys: [{ ...KEY, retryAt: -1e300 }] }],
  ['keys[0].accountId', { keys: [{ ...KEY, accountId: undefined }] }],
  ['keys[0].accountId', { accounts: [] }],
  ['lastKey', { lastKey: -1 }],
  ['lastKey', { lastKey: 0 }],
  ['lastAccount', { lastAccount: 0 }],
  ['rules[0].id', { rules: [{ id: undefined }] }],
  ['rules[0].respond[0].status', { rules: [{ respond: [{ status: 0 }] }] }],
  ['rules[0].respond[0].headers', { rules: [{ respond: [{ status: 200, headers: { 'x-a': 'b\r\nc: d' } }] }] }],
  ['random', { random: [1, 2] }],
  ['behaviour.rateWindow', { behaviour: { rateWindow: 'round' } }],
  ['behaviour.preset', { behaviour: { preset: 'hostile' } }],
  ['extra', { extra: 1 }],
])('a snapshot with a damaged %s is rejected, and nothing changes', (field, change) => {
  const { mock } = mockWithKey();
  mock.rules.add({ respond: { data: {} } });
  const before = mock.snapshot();
  const damaged = merged(before, change);

  const error = expect.objectContaining({ code: 'invalid_snapshot', field, message: expect.stringContaining(field) });
  expect(() => mock.restore(damaged as never)).toThrow(error);
  expect(mock.snapshot()).toEqual(before);
});

test('a damaged snapshot is read up to the first wrong account', () => {
  const { mock } = mockWithKey();
  const read: string[] = [];
  const second = {
    ...ACCOUNT,
    get plan() {
      return read.push('plan');
    },
  };

  const damaged = { ...mock.snapshot(), accounts: [{ ...ACCOUNT, plan: 'gold' }, second] };

  expect(() => mock.restore(damaged as never)).toThrow('snapshot.accounts[0].');
  expect(read).toEqual([]);
});

/** The fields of `change`, and of its first entries, replace those of `whole`. */
function merged(whole: object, change: object): object {
  const entries = Object.entries(change).map(([name, value]) => {
    const old = (whole as Readonly<Record<string, unknown>>)[name];
    if (!Array.isArray(value) || !Array.isArray(old)) return [name, value];
    return [name, value.map((entry, index) => (typeof entry === 'object' ? { ...old[index], ...entry } : entry))];
  });
  return { ...whole, ...Object.fromEntries(entries) };
}

test('a switch that a snapshot lacks has its default', () => {
  const mock = createMockServer({ clock: STILL, behaviour: { rateWindow: 'token-bucket' } });
  const { rateWindow: _, ...older } = mock.snapshot().behaviour;

  mock.restore({ ...mock.snapshot(), behaviour: older as never });

  expect(mock.behaviour.values.rateWindow).toBe('sliding-log');
});

test('a mock with the options and the snapshot of another one shares nothing with it', async () => {
  const options = { seed: 7, clock: STILL, rules: [{ respond: () => ({ data: { from: 'the options' } }) }] };
  const { mock, id, key } = mockWithKey(options);
  await mock.clock.advance(5000);
  const untouched = JSON.stringify(mock.snapshot());

  const copy = createMockServer(options);
  copy.restore(mock.snapshot());
  expect(copy.snapshot()).toEqual(mock.snapshot());
  copy.behaviour.set('hostile');
  const response = await sender(copy, key)();
  copy.rules.add({ fail: { kind: 'hang' } });
  await copy.clock.advance(1000);

  expect(response.json().data).toEqual({ from: 'the options' });
  expect(JSON.stringify(mock.snapshot())).toBe(untouched);
  mock.keys.revoke(id);
  expect(copy.keys.get(id)).toMatchObject({ state: 'active', month: { used: 1 } });
});

test('a snapshot with a key or an id twice is refused', () => {
  const mock = createMockServer({ clock: 'virtual' });
  mock.createKey();
  const snapshot = mock.snapshot();
  const [key] = snapshot.keys;

  for (const keys of [
    [key!, key!],
    [key!, { ...key!, id: 'key_0' }],
    [key!, { ...key!, hash: 'a'.repeat(64) }],
  ]) {
    expect(() => mock.restore({ ...snapshot, keys })).toThrow(
      /^snapshot\.keys\.(?:hash|id) has "\w+" twice; expected it once\.$/,
    );
  }
});

test.each([12, 400])('with a Retry-After of %i digits, a snapshot can be restored', async (digits) => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ respond: { status: 503 }, retryAfter: '9'.repeat(digits) });
  await send();
  await Promise.resolve(); // it is stored when the client has the response

  const snapshot = mock.snapshot();

  expect(snapshot.keys).toMatchObject([{ retryAt: LATEST_MS }]);
  mock.restore(snapshot);
  expect(mock.snapshot()).toEqual(snapshot);
});

test('a Retry-After that was delayed does not reach a key restored meanwhile', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ respond: { status: 503 }, retryAfter: '60', delayMs: 5000 });
  const snapshot = mock.snapshot();
  const sent = send();

  mock.restore(snapshot);
  await mock.clock.advance(5000);

  expect((await sent).headers.get('retry-after')).toBe('60');
  expect(mock.snapshot().keys).toMatchObject([{ retryAt: 0 }]);
});
