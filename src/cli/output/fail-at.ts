import { CliError, usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { grouped } from './grouped.ts';
import type { QuotaFields } from './quota-fields.ts';

/** `--fail-at 80%` or `--fail-at 800`. */
export interface FailAt {
  readonly text: string;
  /** Digits without the point. */
  readonly amount: bigint;
  /** What `amount` is to be divided by. */
  readonly scale: bigint;
  readonly isPercent: boolean;
}

export function parseFailAt(text: string): FailAt {
  const [, whole, fraction = '', percent] = /^(\d{1,15})(?:\.(\d{1,3}))?(%)?$/.exec(text) ?? [];
  if (whole === undefined || (fraction !== '' && percent === undefined)) {
    throw usageError(`--fail-at takes a share of the limit or a number of requests, got '${text}'`, 'e.g. 80%, 800');
  }
  return { text, amount: BigInt(whole + fraction), scale: 10n ** BigInt(fraction.length), isPercent: percent === '%' };
}

/** The error for a quota that is used as far as `--fail-at` says; a share of no fixed limit is never reached. */
export function usedTooMuch(fields: QuotaFields, { text, amount, scale, isPercent }: FailAt): CliError | undefined {
  const used = fields.get('monthly_used') ?? '';
  const limit = fields.get('monthly_limit') ?? '';
  const hasLimit = /^\d+$/.test(limit);
  if (!/^\d+$/.test(used) || (isPercent && !hasLimit)) return undefined;
  const isReached = isPercent ? BigInt(used) * 100n * scale >= amount * BigInt(limit) : BigInt(used) >= amount;
  if (!isReached) return undefined;
  return new CliError(`the monthly quota has reached --fail-at ${text}`, {
    code: 'fail_at',
    exitCode: exitCodes.quota,
    why: `${grouped(used)}${hasLimit ? ` of ${grouped(limit)}` : ''} used`,
    resetsAt: fields.get('resets_at'),
  });
}
