import pThrottle from 'p-throttle';
import { createCaller as createKy } from './ky.mjs';

export function createCaller({ perMinute, ...options }) {
  return pThrottle({ limit: perMinute, interval: 60_000 })(createKy(options));
}
