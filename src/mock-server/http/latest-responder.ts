import { type Answer, success } from './answer.ts';
import { badParameter } from './bad-parameter.ts';
import { CURRENCIES, type Currency, createInventedRates, isCurrency } from './invented-rates.ts';
import type { Responder } from './responder.ts';

/**
 * `GET /api/v1/latest`: parameters and fields are not shown, so both are invented here: `base` (default USD) and
 * `symbols` (a comma-separated list; default: all). Other parameters are ignored.
 */
export function createLatestResponder(seed: number): Responder {
  const answerOf = createLatestAnswers(seed);
  return ({ query, at }, { behaviour }) => {
    const base = upperCase(query.get('base') ?? 'USD');
    const symbols = listOf(query.getAll('symbols'));
    if (![base, ...symbols].every(isCurrency)) {
      const refusal = badParameter('base or symbols name a currency that is not among the invented rates.', behaviour);
      if (refusal !== undefined) return refusal;
    }
    const snapshot = Math.floor(at / SNAPSHOT_MS);
    return answerOf({ base: isCurrency(base) ? base : 'USD', symbols: symbols.filter(isCurrency), snapshot });
  };
}

const SNAPSHOT_MS = 5 * 60_000;

interface LatestQuestion {
  readonly base: Currency;
  /** Empty for all but the base. */
  readonly symbols: readonly Currency[];
  /** Number of the snapshot since the Unix epoch. */
  readonly snapshot: number;
}

/** Keeps the answer with all rates for each base: most requests ask for it, and it changes with the snapshot only. */
function createLatestAnswers(seed: number): (question: LatestQuestion) => Answer {
  const ratesOf = createInventedRates(seed);
  const kept = new Map<Currency, { readonly snapshot: number; readonly answer: Answer }>();
  return ({ base, symbols, snapshot }) => {
    const known = symbols.length === 0 ? kept.get(base) : undefined;
    if (known?.snapshot === snapshot) return known.answer;
    const rates = ratesOf(base, snapshot);
    const wanted = symbols.length > 0 ? symbols : CURRENCIES.filter((code) => code !== base);
    const answer = success({
      base,
      timestamp: new Date(snapshot * SNAPSHOT_MS).toISOString(),
      source: 'invented by the fxrates mock server',
      rates: Object.fromEntries(wanted.map((code) => [code, rates(code)])),
    });
    if (symbols.length === 0) kept.set(base, { snapshot, answer });
    return answer;
  };
}

function listOf(values: readonly string[]): string[] {
  return values.flatMap((list) => list.split(',').map(upperCase)).filter((code) => code !== '');
}

function upperCase(code: string): string {
  return code.trim().toUpperCase();
}
