import type { Behaviour } from '../behaviour/behaviour.ts';
import type { RateUse } from '../service/decide.ts';

/** Headers about the per-minute limit, in the manner the switch names; none by default. */
export function rateHeaders(
  rate: RateUse,
  now: number,
  behaviour: Behaviour,
): Readonly<Record<string, string>> | undefined {
  const remaining = Math.max(0, rate.limit - rate.used);
  switch (behaviour.use('rateHeaders')) {
    case 'none':
      return undefined;
    case 'x-ratelimit':
      return {
        'x-ratelimit-limit': String(rate.limit),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String(Math.ceil(rate.fullAt / 1000)),
      };
    // draft-ietf-httpapi-ratelimit-headers
    case 'ietf-draft':
      return {
        'ratelimit-policy': `"minute";q=${rate.limit};w=60`,
        ratelimit: `"minute";r=${remaining};t=${Math.ceil((rate.fullAt - now) / 1000)}`,
      };
  }
}
