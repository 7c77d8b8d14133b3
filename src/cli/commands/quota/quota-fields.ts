import { leaves } from '../../json/leaves.ts';
import { memberNames } from '../../json/select-value.ts';
import { scalarText } from '../../output/delimited-text.ts';

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

/** The record with `own` fields, as JSON texts, at its end; what the service sends stays as it is, also under such a name. */
export function withFields(json: string, own: Readonly<Record<string, string>>): string {
  const theirs = new Set(memberNames(json, [], Number.POSITIVE_INFINITY));
  const added = Object.entries(own).flatMap(([name, value]) => (theirs.has(name) ? [] : [`"${name}":${value}`]));
  if (added.length === 0) return json;
  const end = json.lastIndexOf('}');
  const separator = theirs.size === 0 ? '' : ',';
  return `${json.slice(0, end).trimEnd()}${separator}${added.join(',')}}`;
}
