import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { bundledProgram } from '../helpers/child-program.ts';
import { hasRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';
import type { CallsEnded, CallsOrder, SharingOptions } from '../helpers/sharing-process.ts';

const PROCESS = await bundledProgram(new URL('../helpers/sharing-process.ts', import.meta.url));
/** In real time: more than a busy machine needs for 30 calls, less than the minute until the next slot. */
const DEADLINE_MS = 25_000;
/** A store has a second to respond. A process that waits this long for a processor can find it too slow. */
const BUSY_MS = 500;
/** Without the store, each process finds the remaining slots with batches of doubling size. */
const REFUSED_WITHOUT_STORE = 15;

// What each library does while Redis fails: redis-outages.test.ts.
describe.skipIf(!hasRedis)('four processes with one key', () => {
  let redis: RedisServer;
  let mock: MockServer;
  let processes: ChildProcess[];

  beforeEach(async () => {
    redis = await startRedis();
    mock = createMockServer({ seed: 7 });
    const server = await mock.serve({ port: 0 });
    const { key: apiKey } = mock.createKey({ plan: 'free' });
    const options: SharingOptions = { baseUrl: server.url, apiKey, perMinute: 30, redisUrl: redis.url };
    processes = [1, 2, 3, 4].map(() => fork(PROCESS, [JSON.stringify(options)], { stdio: 'inherit' }));
    await Promise.all(processes.map((child) => once(child, 'message')));
  });
  afterEach(async () => {
    for (const child of processes) child.kill('SIGKILL');
    await mock.close();
    await redis.kill();
  });

  const makeCalls = async (children: readonly ChildProcess[], order: CallsOrder) => {
    const ended = await Promise.all(
      children.map(async (child) => {
        const response = once(child, 'message');
        child.send(order);
        const [report] = (await response) as [CallsEnded];
        return report;
      }),
    );
    return {
      ok: ended.reduce((sum, { ok }) => sum + ok, 0),
      errors: new Set(ended.flatMap(({ errors }) => errors)),
      warnings: ended.map(({ warnings }) => warnings),
      isBusy: ended.some(({ longestDelayMs }) => longestDelayMs > BUSY_MS),
    };
  };

  const refused = () => mock.journal.list().filter(({ status }) => status === 429).length;

  test('sends exactly the limit; after a refusal, calls that would be too late reject', async () => {
    const { ok, errors, warnings, isBusy } = await makeCalls(processes, { calls: 15, deadlineMs: DEADLINE_MS });

    expect({ ok, errors: [...errors] }).toEqual({ ok: 30, errors: ['rate_limited'] });
    expect(refused()).toBeLessThanOrEqual(warnings.flat().length === 0 ? 1 : REFUSED_WITHOUT_STORE);
    expect(warnings.flat().filter((text) => !isBusy || !text.includes('no response within 1000 ms'))).toEqual([]);
  });

  test('if a process is killed and Redis restarts empty, the others lose nothing and warn once', async () => {
    const [killed, ...others] = processes as [ChildProcess, ...ChildProcess[]];
    const before = await makeCalls(processes, { calls: 4, deadlineMs: DEADLINE_MS });
    killed.kill('SIGKILL');
    await redis.kill();

    const alone = await makeCalls(others, { calls: 2, deadlineMs: DEADLINE_MS });
    await redis.restart();
    const again = await makeCalls(others, { calls: 10, deadlineMs: DEADLINE_MS });

    expect([before.ok, alone.ok]).toEqual([16, 6]);
    expect(before.ok + alone.ok + again.ok).toBeLessThanOrEqual(30);
    // Until the store responds again, each process rejects the calls that its share does not serve in time.
    expect(before.ok + alone.ok + again.ok).toBeGreaterThanOrEqual(26);
    expect([...again.errors]).toEqual(['rate_limited']);
    expect(again.warnings.map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(again.warnings[0]?.[0]).toMatch(/^rateLimit\.store: the store failed .* this process limits itself$/);
    expect(refused()).toBeLessThanOrEqual(REFUSED_WITHOUT_STORE);
  });
});
