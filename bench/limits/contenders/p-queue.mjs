import PQueue from 'p-queue';
import { createCaller as createKy } from './ky.mjs';

export function createCaller({ perMinute, ...options }) {
  const queue = new PQueue({ intervalCap: perMinute, interval: 60_000 });
  const call = createKy(options);
  return (n) => queue.add(() => call(n));
}
