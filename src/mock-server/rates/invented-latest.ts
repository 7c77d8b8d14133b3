import { type ServiceResponse, successResponse } from '../http/service-response.ts';
import { CURRENCIES, type Currency, isCurrency } from './currencies.ts';
import { type InventedRates, inventRates } from './invented-rates.ts';

/** What a request asks `latest` for, in the invented parameters `base` and `symbols`. */
export interface LatestQuestion {
  /** Default: USD. */
  readonly base: Currency;
  /** Empty for all but the base. */
  readonly symbols: readonly Currency[];
  /** Whether the request named currencies that there are not; they are left out here. */
  readonly hasUnknown: boolean;
}

export function readQuestion(query: URLSearchParams): LatestQuestion {
  const base = upperCase(query.get('base') ?? 'USD');
  const symbols = listOf(query.getAll('symbols'));
  return {
    base: isCurrency(base) ? base : 'USD',
    symbols: symbols.filter(isCurrency),
    hasUnknown: ![base, ...symbols].every(isCurrency),
  };
}

function listOf(values: readonly string[]): string[] {
  return values.flatMap((list) => list.split(',').map(upperCase)).filter((code) => code !== '');
}

function upperCase(code: string): string {
  return code.trim().toUpperCase();
}

/** The `data` of an invented answer. */
export interface InventedData {
  /** Base currency. */
  readonly base: Currency;
  /** Time of the snapshot, ISO 8601 in UTC. */
  readonly timestamp: string;
  /** States that the rates are invented. */
  readonly source: string;
  /** Units of each currency for one unit of the base. */
  readonly rates: Readonly<Record<string, number>>;
}

/** The invented rates of one moment, and the answers already made of them: most requests repeat. */
export class InventedSnapshot {
  readonly seed: number;
  readonly at: number;
  readonly #rates: InventedRates;
  readonly #answers = new Map<string, ServiceResponse>();

  constructor(seed: number, at: number) {
    this.seed = seed;
    this.at = at;
    this.#rates = inventRates(seed, at);
  }

  /** What was answered to the same query before; `undefined` if nothing was. */
  answerTo(queryText: string | undefined): ServiceResponse | undefined {
    return queryText === undefined ? undefined : this.#answers.get(queryText);
  }

  /** The answer to a question with nothing unknown in it, kept for the next request with that `queryText`. */
  answer(question: LatestQuestion, queryText: string | undefined): ServiceResponse {
    const answer = successResponse(this.data(question));
    if (queryText === undefined || queryText.length > LONGEST_KEPT) return answer;
    if (this.#answers.size === MOST_ANSWERS) this.#answers.clear();
    this.#answers.set(queryText, answer);
    return answer;
  }

  data({ base, symbols }: LatestQuestion): InventedData {
    const wanted = symbols.length > 0 ? symbols : CURRENCIES.filter((code) => code !== base);
    return {
      base,
      timestamp: new Date(this.at).toISOString(),
      source: 'invented by the fxrates mock server',
      rates: Object.fromEntries(wanted.map((code) => [code, this.#rates.rate(base, code)])),
    };
  }
}

/** About 2.5 kB each. */
const MOST_ANSWERS = 200;
const LONGEST_KEPT = 500;

/** Keeps the newest snapshot: it answers every request until the next one. */
export function createInventedSnapshots(): (seed: number, at: number) => InventedSnapshot {
  let newest: InventedSnapshot | undefined;
  return (seed, at) => {
    if (newest?.at !== at || newest.seed !== seed) newest = sharedSnapshot(seed, at);
    return newest;
  };
}

/** The same seed and time give the same rates: a mock and its spaces share a snapshot, and the texts of its answers. */
function sharedSnapshot(seed: number, at: number): InventedSnapshot {
  const name = `${seed} ${at}`;
  const known = shared.get(name);
  if (known !== undefined) return known;
  const snapshot = new InventedSnapshot(seed, at);
  if (shared.size === MOST_SNAPSHOTS) shared.clear();
  shared.set(name, snapshot);
  return snapshot;
}

const shared = new Map<string, InventedSnapshot>();
const MOST_SNAPSHOTS = 16;
