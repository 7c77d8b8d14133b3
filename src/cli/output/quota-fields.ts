import { leaves } from '../json/leaves.ts';
import { scalarText } from './scalar-text.ts';

/** The fields of a quota record, as text with the service's own digits; a nested field under its dotted path. */
export type QuotaFields = ReadonlyMap<string, string>;

export function readFields(json: string): QuotaFields {
  return new Map([...leaves(json)].map(({ path, lexeme }) => [path.join('.'), scalarText(lexeme)]));
}

/** Digits of what is left of the month, at least 0; `undefined` when the plan has no fixed limit. */
export function remainingOf(fields: QuotaFields): string | undefined {
  const used = fields.get('monthly_used') ?? '';
  const limit = fields.get('monthly_limit') ?? '';
  if (!/^\d+$/.test(used) || !/^\d+$/.test(limit)) return undefined;
  const remaining = BigInt(limit) - BigInt(used);
  return String(remaining > 0n ? remaining : 0n);
}

/** The record with `monthly_remaining` at its end, the one field that is ours; the rest of the text stays as it is. */
export function withRemaining(json: string): string {
  const fields = readFields(json);
  if (fields.has('monthly_remaining')) return json;
  const end = json.lastIndexOf('}');
  const separator = fields.size === 0 ? '' : ',';
  return `${json.slice(0, end).trimEnd()}${separator}"monthly_remaining":${remainingOf(fields) ?? 'null'}}`;
}
