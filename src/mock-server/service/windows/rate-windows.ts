import type { BehaviourValues } from '../../behaviour/switches.ts';
import { fixedEpoch } from './fixed-epoch.ts';
import { fixedFirstRequest } from './fixed-first-request.ts';
import type { RateWindowFactory } from './rate-window.ts';
import { slidingCounter } from './sliding-counter.ts';
import { slidingLog } from './sliding-log.ts';
import { tokenBucket } from './token-bucket.ts';

/** Every kind of per-minute window, by the value of the switch `rateWindow`. */
export const rateWindows: Readonly<Record<BehaviourValues['rateWindow'], RateWindowFactory>> = {
  'sliding-log': slidingLog,
  'fixed-epoch': fixedEpoch,
  'fixed-first-request': fixedFirstRequest,
  'sliding-counter': slidingCounter,
  'token-bucket': tokenBucket,
};
