import { type Answer, success } from './answer.ts';
import { badParameter } from './bad-parameter.ts';
import { CURRENCIES, type Currency, inventedRates, isCurrency } from './invented-rates.ts';
import type { Responder } from './responder.ts';

/**
 * `GET /api/v1/latest`: parameters and fields are not shown, so both are invented here: `base` (default USD) and
 * `symbols` (a comma-separated list; default: all). Other parameters are ignored.
 */
export function createLatestResponder(): Responder {
  const answerOf = createLatestAnswers();
  return ({ query, at }, { behaviour, state }) => {
    const base = upperCase(query.get('base') ?? 'USD');
    const symbols = listOf(query.getAll('symbols'));
    if (![base, ...symbols].every(isCurrency)) {
      const refusal = badParameter('base or symbols name a currency that is not among the invented rates.', behaviour);
      if (refusal !== undefined) return refusal;
    }
    return answerOf({
      seed: state.seed,
      snapshot: Math.floor(at / SNAPSHOT_MS),
      base: isCurrency(base) ? base : 'USD',
      symbols: symbols.filter(isCurrency),
    });
  };
}

const SNAPSHOT_MS = 5 * 60_000;

interface LatestQuestion {
  readonly seed: number;
  /** Number of the snapshot since the Unix epoch. */
  readonly snapshot: number;
  readonly base: Currency;
  /** Empty for all but the base. */
  readonly symbols: readonly Currency[];
}

/** Keeps the answer with all rates for each base: most requests ask for it, and it changes with the snapshot only. */
function createLatestAnswers(): (question: LatestQuestion) => Answer {
  const kept = new Map<Currency, { readonly seed: number; readonly snapshot: number; readonly answer: Answer }>();
  return (question) => {
    const { seed, snapshot, base, symbols } = question;
    if (symbols.length > 0) return latestAnswer(question, symbols);
    const known = kept.get(base);
    if (known?.snapshot === snapshot && known.seed === seed) return known.answer;
    const everyOther = CURRENCIES.filter((code) => code !== base);
    const answer = latestAnswer(question, everyOther);
    kept.set(base, { seed, snapshot, answer });
    return answer;
  };
}

function latestAnswer({ seed, snapshot, base }: LatestQuestion, wanted: readonly Currency[]): Answer {
  const rateOf = inventedRates({ seed, snapshot, base });
  return success({
    base,
    timestamp: new Date(snapshot * SNAPSHOT_MS).toISOString(),
    source: 'invented by the fxrates mock server',
    rates: Object.fromEntries(wanted.map((code) => [code, rateOf(code)])),
  });
}

function listOf(values: readonly string[]): string[] {
  return values.flatMap((list) => list.split(',').map(upperCase)).filter((code) => code !== '');
}

function upperCase(code: string): string {
  return code.trim().toUpperCase();
}
