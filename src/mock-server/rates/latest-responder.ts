import { badParameter } from '../http/error-responses.ts';
import type { AdmittedRequest, Responder } from '../http/responders.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { answerWith, type LatestFunction } from './custom-latest.ts';
import { createInventedSnapshots, readQuestion } from './invented-latest.ts';
import { createReplay, type Replay } from './replay.ts';
import { snapshotIntervalMs } from './snapshot-interval.ts';

/** Where the data of `latest` comes from; by default it is invented. */
export interface LatestSource {
  readonly latest?: LatestFunction | undefined;
  readonly replay?: Replay | undefined;
}

/** `GET /api/v1/latest`: its parameters and fields are not shown, so the data is invented, or the user's own. */
export function createLatestResponder({ latest, replay }: LatestSource = {}): Responder {
  if (replay !== undefined) return createReplay(replay);
  const snapshots = createInventedSnapshots();
  const snapshotOf = ({ at }: AdmittedRequest, { behaviour, state }: ServiceContext) => {
    const intervalMs = snapshotIntervalMs(behaviour.use('snapshotGranularity'));
    return snapshots(state.seed, Math.floor(at / intervalMs) * intervalMs);
  };
  return (request, context) => {
    if (latest !== undefined) {
      const invented = () => snapshotOf(request, context).data(readQuestion(request.query));
      return answerWith(latest, request, invented);
    }
    const question = readQuestion(request.query);
    const refusal = question.hasUnknown ? badParameter(UNKNOWN_CURRENCY, context.behaviour) : undefined;
    return refusal ?? snapshotOf(request, context).answer(question);
  };
}

const UNKNOWN_CURRENCY = 'base or symbols name a currency that is not among the invented rates.';
