import { expect, onTestFinished, test } from 'vitest';
import { inTurns } from '../../../src/mock-server/clock/event-loop.ts';
import { createMockServer, type MockServer } from '../../../src/mock-server/index.ts';
import type { Steps } from '../../../src/mock-server/input/checked-input.ts';
import { createHandler } from '../../../src/mock-server/mock/handle-request.ts';
import { MockMethods } from '../../../src/mock-server/mock/mock-methods.ts';
import { createMockState, type MockState } from '../../../src/mock-server/mock/mock-state.ts';
import { checkOptions } from '../../../src/mock-server/mock/options.ts';
import { type AdminCall, jsonOf } from '../../../src/mock-server/server/admin-server.ts';
import { adminRoutes } from '../../../src/mock-server/server/routes.ts';
import { servedMock } from '../../helpers/served-mock.ts';

const ENTRIES = 50;

function listOf(entry: (index: number) => unknown): readonly unknown[] {
  return Array.from({ length: ENTRIES }, (_, index) => entry(index));
}

/** What a route returns on a mock, and the methods of that. */
function runRoute(id: string, body: unknown, state = createMockState(checkOptions({}))) {
  const mock = new MockMethods(state);
  const route = adminRoutes.find((one) => one.id === id);
  const { signal } = new AbortController();
  const call: AdminCall<unknown, unknown> = { state, mock, path: {}, body, query: {}, signal };
  return { mock, result: route?.run(call) };
}

function stepsOf(id: string, body: unknown, state?: MockState) {
  const { mock, result } = runRoute(id, body, state);
  return { mock, steps: result as Steps<unknown> };
}

/** A mock that has received requests with these values of the parameter `text`. */
function mockWithRequests(texts: readonly string[]): MockState {
  const state = createMockState(checkOptions({}));
  const handle = createHandler(state);
  for (const text of texts)
    void handle({ method: 'GET', target: `/api/v1/quota?text=${text}`, headers: {} }, { adapter: 'fetch' });
  return state;
}

const rules = listOf((index) => ({ match: { query: { base: `X${index}` } }, respond: { status: 503 } }));

test('lists no two keys in one step', () => {
  const state = createMockState(checkOptions({}));
  const mock = new MockMethods(state);
  for (const _ of listOf(() => mock.createKey()));

  expect([...stepsOf('keys.list', {}, state).steps].length).toBeGreaterThanOrEqual(ENTRIES);
});

test.each<[string, string, object]>([
  ['findRequests', 'found', { limit: 1000, filter: { query: { text: { matches: 'a' } } } }],
  ['verifyRequests', 'right number', { count: ENTRIES }],
  ['verifyRequests', 'number', { atLeast: ENTRIES + 1 }],
  ['verifyRequests', 'pattern in order', { inOrder: [{ query: { text: 'last' } }] }],
  ['verifyRequests', 'pattern before another', { inOrder: [{ query: { text: 'a' } }, { query: { text: 'b' } }] }],
])('%s compares no two requests with a %s in one step', (id, _, input) => {
  const state = mockWithRequests(listOf(() => 'a') as string[]);
  const { steps } = stepsOf(id, input, state);
  let count = 0;

  try {
    while (!steps.next().done) count += 1;
  } catch (error) {
    expect(error).toMatchObject({ code: 'unexpected_requests' });
    expect(count).toBeGreaterThanOrEqual(2 * ENTRIES - 2); // those that are nearest are found, too
  }

  expect(count).toBeGreaterThanOrEqual(ENTRIES);
});

test('a wait for requests that are in the journal compares them in turns', async () => {
  const state = mockWithRequests(listOf(() => `${'a'.repeat(16)}!`) as string[]);
  const filter = { query: { text: { matches: '^(a+)+$|!' } } }; // takes about a millisecond for each
  let hadTurn = false;
  setImmediate(() => {
    hadTurn = true;
  });

  await runRoute('waitForRequests', { filter, count: ENTRIES, timeoutMs: 0 }, state).result;

  expect(hadTurn).toBe(true);
});

test.each<[string, (mock: MockServer) => unknown]>([
  ['a snapshot', (mock) => mock.snapshot()],
  ['keys', (mock) => mock.keys.list()],
  ['rules', (mock) => mock.rules.list()],
  ['an empty list beside keys', (mock) => ({ none: [], keys: mock.keys.list() })],
  ['a rule with a function', (mock) => ({ ...mock.rules.get('fn'), keys: mock.keys.list() })],
])('JSON of %s has no two entries in one step', (_, read) => {
  const mock = createMockServer();
  mock.setUp({ keys: listOf(() => ({})) as never, rules: rules as never });
  mock.rules.add({ id: 'fn', respond: () => ({ status: 503 }) });
  const value = read(mock);
  const steps = jsonOf(value);
  let count = 0;
  let step = steps.next();

  for (; !step.done; step = steps.next()) count += 1;

  expect(count).toBeGreaterThanOrEqual(ENTRIES);
  expect(String(step.value)).toBe(JSON.stringify(value));
});

test('work in steps gives other work a turn whenever it has taken 5 ms', async () => {
  let now = 0;
  let turns = 0;
  const turn = async () => {
    turns += 1;
  };
  const work = function* (): Steps<string> {
    for (let step = 0; step < 100; step += 1) {
      now += 1;
      yield;
    }
    return 'done';
  };

  const result = await inTurns(work(), { now: () => now, turn });

  expect([result, turns]).toEqual(['done', 20]);
});

test('the server runs a route in turns', async () => {
  await using it = await servedMock();
  const route = adminRoutes.find(({ id }) => id === 'restore') ?? {};
  const { run } = { run: undefined, ...route };
  onTestFinished(() => void Object.assign(route, { run }));
  let hadTurn = false;
  let hadTurnInTime = false;
  Object.assign(route, {
    *run(): Steps<unknown> {
      setImmediate(() => {
        hadTurn = true;
      });
      for (let step = 0; !hadTurn && step < 5_000_000; step += 1) yield;
      hadTurnInTime = hadTurn;
      return undefined;
    },
  });

  const response = await it.admin('PUT', '/state', '{}');

  expect([response.status, hadTurnInTime]).toEqual([204, true]);
});
