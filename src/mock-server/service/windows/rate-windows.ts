import type { BehaviourValues } from '../../behaviour/switches.ts';
import { FixedEpoch } from './fixed-epoch.ts';
import { FixedFirstRequest } from './fixed-first-request.ts';
import type { RateWindow } from './rate-window.ts';
import { SlidingCounter } from './sliding-counter.ts';
import { SlidingLog } from './sliding-log.ts';
import { TokenBucket } from './token-bucket.ts';

/** Every kind of per-minute window, by the value of the switch `rateWindow`; empty, or from what `save()` gave. */
export const rateWindows: Readonly<
  Record<BehaviourValues['rateWindow'], new (saved?: readonly number[]) => RateWindow>
> = {
  'sliding-log': SlidingLog,
  'fixed-epoch': FixedEpoch,
  'fixed-first-request': FixedFirstRequest,
  'sliding-counter': SlidingCounter,
  'token-bucket': TokenBucket,
};
