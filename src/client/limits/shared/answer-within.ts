import type { Clock } from '../../clock.ts';

/** What `promise` resolves to, or a rejection after `ms` milliseconds; leaves no timer behind. */
export async function answerWithin<Value>(clock: Clock, ms: number, promise: Promise<Value>): Promise<Value> {
  const answered = new AbortController();
  const sleep = (forMs: number) => clock.sleep(forMs, answered.signal);
  const tooLate = sleep(ms)
    // Where the process itself stood still for so long, the answer is there and only has to be read.
    .then(() => sleep(1))
    .then(
      () => Promise.reject(new Error(`no answer within ${ms} ms`)),
      // Only the answer ends the sleep early.
      () => promise,
    );
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    answered.abort();
  }
}
