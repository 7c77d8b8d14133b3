import type { Clock, FetchLike } from '../../src/client/index.ts';
import { LimitedServer } from '../../test/helpers/limits-server.ts';

const REFUSED = '{"success":false,"error":{"code":"rate_limited","message":"Too many requests.","status":429}}';

/** A service with a sliding window, in virtual time; it sends no response before `open` is called. */
export function limitedFetch(clock: Clock, perMinute: number) {
  const server = new LimitedServer({ window: 'sliding', limit: perMinute, hint: 'seconds' });
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  const fetch: FetchLike = async () => {
    await isOpen;
    const { status, retryAfter } = server.receive(clock.now());
    if (retryAfter === undefined) return new Response('{"success":true,"data":{}}', { status });
    return new Response(REFUSED, { status, headers: { 'retry-after': retryAfter } });
  };
  return { fetch, open };
}
