import { nearestName } from '../../nearest-name.ts';
import { badParameter } from '../http/error-responses.ts';
import { queryOf } from '../http/record-request.ts';
import type { AdmittedRequest, Responder } from '../http/responders.ts';
import { errorResponse, type ServiceResponse, successResponseOfJson } from '../http/service-response.ts';
import { show } from '../mock-server-error.ts';
import { redactKeys } from '../redact-keys.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { jsonOf } from '../stubs/json-parts.ts';
import type { LatestContext, LatestFunction } from '../stubs/stub-record.ts';
import { type InventedSnapshot, inventedSnapshot, KNOWN_PARAMETERS, readRequestedRates } from './invented-latest.ts';
import { parseReplay, type Replay, recordedResponseTo } from './replay.ts';

/** The source of the data of `latest`; by default, it is invented. */
export interface LatestSource {
  readonly latest?: LatestFunction | undefined;
  readonly replay?: Replay | undefined;
}

/** `GET /api/v1/latest`. Its parameters and fields are not documented, so the data is invented or defined by the test. */
export function createLatestResponder({ latest, replay }: LatestSource = {}): Responder {
  const recorded = replay === undefined ? undefined : parseReplay(replay);
  let interval = { granularity: '', ms: 0 };
  const snapshotOf = ({ at }: AdmittedRequest, { behaviour, state }: ServiceContext) => {
    const granularity = behaviour.use('snapshotGranularity');
    if (granularity !== interval.granularity) interval = { granularity, ms: snapshotIntervalMs(granularity) };
    const { ms: intervalMs } = interval;
    return inventedSnapshot(state.seed, Math.floor(at / intervalMs) * intervalMs);
  };
  return (request, context) => {
    const make = request.latest ?? latest;
    if (make !== undefined) {
      const invented = () => snapshotOf(request, context).data(readRequestedRates(queryOf(request.target)));
      return responseOfFunction(make, request, invented);
    }
    if (recorded !== undefined) return recordedResponseTo(recorded, queryOf(request.target));
    return inventedResponse(snapshotOf(request, context), request, context);
  };
}

function inventedResponse(
  snapshot: InventedSnapshot,
  { target }: AdmittedRequest,
  { behaviour }: ServiceContext,
): ServiceResponse {
  const queryText = target.recorded.hasKeyInUrl ? undefined : target.query;
  const known = snapshot.cachedResponse(queryText);
  if (known !== undefined) return known;
  const requested = readRequestedRates(queryOf(target));
  const unknown =
    requested.unknownParameters.length > 0 ? unknownParametersText(requested.unknownParameters) : undefined;
  if (!requested.hasUnknown && unknown === undefined) return snapshot.respond(requested, queryText);
  // Not cached, because these responses depend on switches.
  if (unknown !== undefined && behaviour.use('unknownParameters') === '400') {
    return errorResponse({ status: 400, code: 'invalid_parameter', message: unknown });
  }
  const refusal = requested.hasUnknown ? badParameter(UNKNOWN_CURRENCY, behaviour) : undefined;
  const response = refusal ?? snapshot.respond(requested, undefined);
  return unknown === undefined ? response : { ...response, why: `${response.why}; ${unknown}` };
}

/** A misspelt parameter causes a plausible wrong rate, so the reason names it. */
function unknownParametersText(names: readonly string[]): string {
  const first = names.slice(0, MOST_NAMED).map((name) => {
    const nearest = nearestName(name, KNOWN_PARAMETERS);
    return show(name) + (nearest === undefined ? '' : ` (did you mean ${nearest}?)`);
  });
  const others = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `latest does not know the parameter${names.length === 1 ? '' : 's'} ${first.join(', ')}${others}`;
}

const MOST_NAMED = 3;

const UNKNOWN_CURRENCY = 'base or symbols name a currency that is not among the invented rates.';

/** The response of a function of the test. An error, or a value that is not an object, causes a 500 with the reason. */
function responseOfFunction(
  latest: LatestFunction,
  { target, at, key }: AdmittedRequest,
  invented: LatestContext['invented'],
): ServiceResponse {
  try {
    const data: unknown = latest(queryOf(target), { at, keyId: key.id, plan: key.account.plan, invented });
    if (typeof data === 'object' && data !== null && !('then' in data)) {
      const json = jsonOf(data);
      return json === undefined ? failedFunction(NOT_JSON) : successResponseOfJson(json);
    }
    const given = data instanceof Promise ? 'a promise' : show(data);
    return failedFunction(`returned ${given}; expected an object, returned synchronously`);
  } catch (error) {
    return failedFunction(`threw ${error}`);
  }
}

const NOT_JSON = 'returned a value that JSON cannot represent: it has a cycle, a bigint, NaN or Infinity';

/** The response shows the reason, because the function of the test caused the failure. */
function failedFunction(what: string): ServiceResponse {
  const message = redactKeys(`The function that returns the data of latest ${what}.`);
  return errorResponse({ status: 500, code: 'internal_error', message });
}

/** Whether the function is async. It is refused when it is set, because it returns a promise. */
export function isAsync(latest: unknown): boolean {
  return latest instanceof Function && latest.constructor.name === 'AsyncFunction';
}

/** How long a snapshot is valid, from a granularity such as `5min`; an unknown unit counts as five minutes. */
export function snapshotIntervalMs(granularity: string): number {
  const [, count = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(granularity) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? DEFAULT_MS : Number(count) * unitMs;
}

const DEFAULT_MS = 5 * 60_000;

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  sec: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};
