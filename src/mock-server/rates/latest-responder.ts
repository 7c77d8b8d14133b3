import { nearestName } from '../../nearest-name.ts';
import { badParameter } from '../http/error-responses.ts';
import type { MockResponse } from '../http/mock-message.ts';
import { parametersOf } from '../http/parse-request.ts';
import type { AdmittedRequest, Responder } from '../http/responders.ts';
import { errorResponse, successResponseOfJson } from '../http/responses.ts';
import { show } from '../mock-server-error.ts';
import { redactKeys } from '../redact-keys.ts';
import { jsonOf } from '../stubs/json-parts.ts';
import type { LatestContext, LatestFunction } from '../stubs/stub-schemas.ts';
import { type InventedSnapshot, InventedSnapshots, KNOWN_PARAMETERS, readRequestedRates } from './invented-latest.ts';

/**
 * Creates the responder of `GET /api/v1/latest`. Its parameters and fields are not documented, so the data is invented, or
 * returned by a function of the test. It keeps the snapshots of invented rates, so a mock and its spaces share it.
 */
export function createLatestResponder(): Responder {
  const snapshots = new InventedSnapshots();
  return (admitted) => {
    const { latest, request, switches, seed, at } = admitted;
    const intervalMs = snapshotIntervalMs(switches.use('snapshotGranularity'));
    const snapshot = snapshots.at(seed, Math.floor(at / intervalMs) * intervalMs);
    if (latest === undefined) return inventedResponse(snapshot, admitted);
    return responseOfFunction(latest, admitted, () => snapshot.data(readRequestedRates(parametersOf(request))));
  };
}

function inventedResponse(snapshot: InventedSnapshot, { request, switches }: AdmittedRequest): MockResponse {
  const queryText = request.recorded.hasKeyInUrl ? undefined : request.query;
  const known = snapshot.cachedResponse(queryText);
  if (known !== undefined) return known;
  const requested = readRequestedRates(parametersOf(request));
  const unknown =
    requested.unknownParameters.length > 0 ? unknownParametersText(requested.unknownParameters) : undefined;
  if (!requested.hasUnknown && unknown === undefined) return snapshot.respond(requested, queryText);
  // Not cached, because these responses depend on switches.
  if (unknown !== undefined && switches.use('unknownParameters') === '400') {
    return errorResponse({ status: 400, code: 'invalid_parameter', message: unknown });
  }
  const refusal = requested.hasUnknown ? badParameter(UNKNOWN_CURRENCY, switches) : undefined;
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
  { request, at, key }: AdmittedRequest,
  invented: LatestContext['invented'],
): MockResponse {
  try {
    const data: unknown = latest(parametersOf(request), { at, keyId: key.id, plan: key.account.plan, invented });
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
function failedFunction(what: string): MockResponse {
  const message = redactKeys(`The function that returns the data of latest ${what}.`);
  return errorResponse({ status: 500, code: 'internal_error', message });
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
