import { operations } from '../../generated/operations.ts';
import { responseSchemas } from '../../generated/schemas.ts';
import { isJsonObject } from '../../json.ts';
import type { Operation } from '../../operation.ts';
import type { Switches } from '../behaviour/behaviour.ts';
import type { MockResponse } from '../http/message.ts';
import type { ParsedTarget } from '../http/parse-request.ts';
import { badParameter, successResponse, unknownText, withUnknownParameters } from '../http/responses.ts';
import type { InventedData } from '../rules/rule-schema.ts';
import { CURRENCIES, type Currency, inventRates, isCurrency } from '../service/invented-rates.ts';
import type { ServiceContext, ServiceState } from '../service/service-state.ts';

/** Responds to `GET /api/v1/latest`. Its parameters and fields are not documented, so the data is invented. */
export function latestResponse({ service, request, switches, at }: LatestRequest): MockResponse {
  const snapshot = snapshotAt(at, service.state, switches);
  const known = responses.get(request.target);
  if (known?.at === snapshot.at && known.seed === snapshot.seed) return known.response;
  const requested = readRequestedRates(request.target);
  const invented = inventedResponse(requested, snapshot, switches);
  const names = { id: 'latest', known: KNOWN_PARAMETERS, switches };
  const response = isFreeForm ? withUnknownParameters(invented, request.target, names) : invented;
  // Other responses depend on switches.
  if (requested.unknownCurrencies.length === 0 && response === invented)
    responses.set(request.target, { ...snapshot, response });
  return response;
}

/** The last response to each target. Only a mock and its spaces share a target. */
const responses = new WeakMap<ParsedTarget, InventedSnapshot & { readonly response: MockResponse }>();

interface LatestRequest {
  readonly service: Pick<ServiceContext, 'state'>;
  readonly request: { readonly target: ParsedTarget };
  readonly switches: Switches;
  readonly at: number;
}

/** What the invented rates depend on. */
interface InventedSnapshot {
  readonly seed: number;
  readonly at: number;
}

/** The invented data for a query, for functions of the test. */
export function inventedFor({ state, behaviour, now }: ServiceContext, target: ParsedTarget): InventedData {
  return inventedData(readRequestedRates(target), snapshotAt(now(), state, behaviour));
}

/** It is valid for the granularity of snapshots, such as `5min`. An unknown unit counts as five minutes. */
function snapshotAt(now: number, { seed }: Pick<ServiceState, 'seed'>, switches: Switches): InventedSnapshot {
  const [, count = '', unit = ''] = GRANULARITY.exec(switches.use('snapshotGranularity')) ?? [];
  const unitMs = UNITS_MS[unit.charAt(0)];
  const ms = unitMs === undefined ? DEFAULT_MS : Number(count) * unitMs;
  return { seed, at: Math.floor(now / ms) * ms };
}

const GRANULARITY = /^(\d+)(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$/;
const DEFAULT_MS = 5 * 60_000;
/** By the first letter of a unit. */
const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function inventedResponse(requested: RequestedRates, snapshot: InventedSnapshot, switches: Switches): MockResponse {
  const { unknownCurrencies } = requested;
  // Documented parameters are checked already.
  const unknownCurrency = isFreeForm ? unknownText('latest', 'currency', unknownCurrencies, CURRENCIES) : undefined;
  const refusal = unknownCurrency === undefined ? undefined : badParameter(unknownCurrency, switches);
  return refusal ?? successResponse(JSON.stringify(inventedData(requested, snapshot)));
}

function inventedData({ base, symbols }: RequestedRates, { seed, at }: InventedSnapshot): InventedData {
  const wanted = symbols.length > 0 ? symbols : CURRENCIES.filter((code) => code !== base);
  const rate = inventRates(seed, at);
  const timestamp = new Date(at).toISOString();
  return followContract({
    base,
    timestamp,
    source: 'invented by the fxrates mock server',
    rates: Object.fromEntries(wanted.map((code) => [code, rate(base, code)])),
  });
}

/**
 * Once the contract documents fields, they are those of its example. An invented value that the contract does not allow does
 * not replace that of the example.
 */
function followContract(invented: InventedData): InventedData {
  const { data: example }: { readonly data: unknown } = operations.latest.example;
  const isValid = (data: object) => responseSchemas.latest.safeParse({ success: true, data }).success;
  // Every value of another field is valid.
  const isDocumented = (name: string) => !isValid({ ...Object(example), [name]: Symbol() });
  if (isValid(invented) && !Object.keys({ ...invented, ...Object(example) }).some(isDocumented)) return invented;
  if (!isJsonObject(example)) return example as InventedData; // such as a list, which has none of the invented fields
  const { source: _, ...values } = { date: invented.timestamp.slice(0, 10), ...invented };
  let data: Readonly<Record<string, unknown>> = { ...example };
  for (const [name, value] of Object.entries(values)) {
    const changed = { ...data, [name]: value };
    if ((name in example || isDocumented(name)) && isValid(changed)) data = changed;
  }
  return data as InventedData & typeof data; // the type of the contract as it is
}

/** The query of `latest`: its parameters `base` and `symbols`, which are invented while none are documented. */
interface RequestedRates {
  /** Default: USD. */
  readonly base: Currency;
  /** Empty for all but the base. */
  readonly symbols: readonly Currency[];
  /** As the request has them; they are not in `symbols`. */
  readonly unknownCurrencies: readonly string[];
}

const latest: Operation = operations.latest;
const isFreeForm = latest.query === 'free-form';
const KNOWN_PARAMETERS = isFreeForm ? ['base', 'symbols'] : latest.parameters.map(({ name }) => name);

function readRequestedRates({ parameters }: ParsedTarget): RequestedRates {
  const valuesOf = (name: string) => (KNOWN_PARAMETERS.includes(name) ? parameters.getAll(name) : []);
  const [sentBase = 'USD'] = valuesOf('base');
  const base = upperCase(sentBase);
  const sentSymbols = valuesOf('symbols')
    .flatMap((list) => list.split(','))
    .filter((code) => code.trim() !== '');
  return {
    base: isCurrency(base) ? base : 'USD',
    symbols: sentSymbols.map(upperCase).filter(isCurrency),
    unknownCurrencies: [sentBase, ...sentSymbols].filter((code) => !isCurrency(upperCase(code))),
  };
}

function upperCase(code: string): string {
  return code.trim().toUpperCase();
}
