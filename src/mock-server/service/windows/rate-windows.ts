import type { BehaviourValues } from '../../behaviour/switches.ts';
import { FixedEpoch, FixedFirstRequest } from './fixed-windows.ts';
import type { RateWindow } from './rate-window.ts';
import { SlidingCounter, SlidingLog } from './sliding-windows.ts';
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
