import { expect, test } from 'vitest';
import { realClock } from '../../src/cli/node-io.ts';

test('a sleep of no length is over at once', async () => {
  await realClock.sleep(0);
  await realClock.sleep(-5);
});

test.each([1_000, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
  'a sleep of %d ms ends with the reason of its signal, not before',
  async (ms) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const slept = realClock.sleep(ms, controller.signal);

    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(reason);

    await expect(slept).rejects.toBe(reason);
  },
);

test('a sleep with a signal that has aborted does not begin', async () => {
  await expect(realClock.sleep(1_000, AbortSignal.abort('gone'))).rejects.toBe('gone');
});
