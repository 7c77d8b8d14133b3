import { type Answer, success } from '../http/answer.ts';
import { badParameter } from '../http/bad-parameter.ts';
import type { Responder } from '../http/responder.ts';
import { CURRENCIES, type Currency, isCurrency } from './currencies.ts';
import { type InventedRates, inventRates } from './invented-rates.ts';
import { snapshotIntervalMs } from './snapshot-interval.ts';

/**
 * `GET /api/v1/latest`: parameters and fields are not shown, so both are invented here, and the answer says so: `base`
 * (default USD) and `symbols` (a comma-separated list; default: all). Other parameters are ignored.
 */
export function createLatestResponder(): Responder {
  const snapshots = createSnapshots();
  return ({ query, at }, { behaviour, state }) => {
    const base = upperCase(query.get('base') ?? 'USD');
    const symbols = listOf(query.getAll('symbols'));
    if (![base, ...symbols].every(isCurrency)) {
      const refusal = badParameter('base or symbols name a currency that is not among the invented rates.', behaviour);
      if (refusal !== undefined) return refusal;
    }
    const intervalMs = snapshotIntervalMs(behaviour.use('snapshotGranularity'));
    const snapshot = snapshots(state.seed, Math.floor(at / intervalMs) * intervalMs);
    return answerOf(snapshot, isCurrency(base) ? base : 'USD', symbols.filter(isCurrency));
  };
}

/** The rates of one moment, and the answers with all of them that were asked for: most requests want those. */
interface Snapshot {
  readonly seed: number;
  readonly at: number;
  readonly rates: InventedRates;
  readonly answers: Map<Currency, Answer>;
}

/** Keeps the newest snapshot: it answers every request until the next one. */
function createSnapshots(): (seed: number, at: number) => Snapshot {
  let newest: Snapshot | undefined;
  return (seed, at) => {
    if (newest?.at === at && newest.seed === seed) return newest;
    newest = { seed, at, rates: inventRates(seed, at), answers: new Map() };
    return newest;
  };
}

function answerOf(snapshot: Snapshot, base: Currency, symbols: readonly Currency[]): Answer {
  if (symbols.length > 0) return latestAnswer(snapshot, base, symbols);
  const known = snapshot.answers.get(base);
  if (known !== undefined) return known;
  const everyOther = CURRENCIES.filter((code) => code !== base);
  const answer = latestAnswer(snapshot, base, everyOther);
  snapshot.answers.set(base, answer);
  return answer;
}

function latestAnswer({ at, rates }: Snapshot, base: Currency, symbols: readonly Currency[]): Answer {
  return success({
    base,
    timestamp: new Date(at).toISOString(),
    source: 'invented by the fxrates mock server',
    rates: Object.fromEntries(symbols.map((code) => [code, rates.rate(base, code)])),
  });
}

function listOf(values: readonly string[]): string[] {
  return values.flatMap((list) => list.split(',').map(upperCase)).filter((code) => code !== '');
}

function upperCase(code: string): string {
  return code.trim().toUpperCase();
}
