import type { Clock } from '../../clock.ts';

/** What `promise` resolves to, or a rejection after `ms` milliseconds; leaves no timer behind. */
export async function answerWithin<Value>(clock: Clock, ms: number, promise: Promise<Value>): Promise<Value> {
  const answered = new AbortController();
  const tooLate = clock.sleep(ms, answered.signal).then(
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
