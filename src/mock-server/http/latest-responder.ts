import { success } from './answer.ts';
import { badParameter } from './bad-parameter.ts';
import { CURRENCIES, type Currency, inventedRate, isCurrency } from './invented-rates.ts';
import type { Responder } from './responder.ts';

/**
 * `GET /api/v1/latest`: parameters and fields are not shown, so both are invented here: `base` (default USD) and
 * `symbols` (a comma-separated list; default: all). Other parameters are ignored.
 */
export const latestResponder: Responder = ({ query }, { behaviour, now, seed }) => {
  const base = upperCase(query.get('base') ?? 'USD');
  const symbols = query
    .getAll('symbols')
    .flatMap((list) => list.split(',').map(upperCase))
    .filter((code) => code !== '');
  if (![base, ...symbols].every(isCurrency)) {
    const refusal = badParameter('base or symbols name a currency that is not among the invented rates.', behaviour);
    if (refusal !== undefined) return refusal;
  }
  const knownBase = isCurrency(base) ? base : 'USD';
  const wanted = symbols.length === 0 ? CURRENCIES : symbols.filter(isCurrency);
  const snapshot = Math.floor(now() / SNAPSHOT_MS);
  return success({
    base: knownBase,
    timestamp: new Date(snapshot * SNAPSHOT_MS).toISOString(),
    source: 'invented by the fxrates mock server',
    rates: ratesOf(wanted, { base: knownBase, snapshot, seed }),
  });
};

const SNAPSHOT_MS = 5 * 60_000;

function ratesOf(wanted: readonly Currency[], options: Parameters<typeof inventedRate>[1]): Record<string, number> {
  const others = wanted.filter((code) => code !== options.base || wanted.length === 1);
  return Object.fromEntries(others.map((code) => [code, inventedRate(code, options)]));
}

function upperCase(code: string): string {
  return code.trim().toUpperCase();
}
