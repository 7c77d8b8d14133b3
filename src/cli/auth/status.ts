import type { QuotaData } from '../../client/index.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { grouped } from '../output/grouped.ts';
import { printJson } from '../output/print-json.ts';
import { type ReportRow, rowText } from '../output/rows.ts';
import { type KeyInUse, requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { maskKey } from '../terminal/redactor.ts';
import { type KeyCheck, verifyKey } from './verdict.ts';

/** Tells which key would be used, from where, and what the service says to it; fails as a call with it would. */
export async function status(invocation: Invocation): Promise<number> {
  const { settings, io, screen, options } = invocation;
  requireBaseUrl(settings);
  const key = await requireKey(settings, io);
  screen.secrets.protect(key.secret);
  const verdict = options['verify'] === false ? undefined : await verifyKey(key, invocation);
  if (settings.output === 'auto' && settings.get.length === 0) {
    await screen.printText(
      statusRows(key, verdict, invocation)
        .map((row) => rowText(row, screen.out))
        .join(''),
    );
  } else {
    await printJson(statusJson(key, verdict, invocation), invocation);
  }
  if (verdict?.failure !== undefined) throw verdict.failure;
  return exitCodes.ok;
}

function statusRows(key: KeyInUse, verdict: KeyCheck | undefined, { settings }: Invocation): ReportRow[] {
  return [
    { label: 'Profile', value: settings.profile },
    { label: 'Base URL', value: settings.baseUrl?.text ?? '', remark: `(from ${settings.baseUrl?.source})` },
    { label: 'Key', value: maskKey(key.secret), remark: `(from ${key.source})` },
    ...key.shadowed.map((source) => ({ label: '', value: `shadows ${source}` })),
    { label: 'Check', value: verdictText(verdict), isWarning: verdict?.failure !== undefined },
  ];
}

function verdictText(verdict: KeyCheck | undefined): string {
  if (verdict === undefined) return 'not asked (--no-verify)';
  if (verdict.quota === undefined) return 'failed';
  const { plan, monthly_used: used, monthly_limit: limit } = verdict.quota;
  const ofLimit = typeof limit === 'number' ? ` of ${grouped(limit)}` : '';
  return `ok, plan ${plan}, ${grouped(used)}${ofLimit} used`;
}

function statusJson(key: KeyInUse, verdict: KeyCheck | undefined, { settings }: Invocation): string {
  const quota: Partial<QuotaData> = verdict?.quota ?? {};
  return JSON.stringify({
    profile: settings.profile,
    base_url: { value: settings.baseUrl?.text, source: settings.baseUrl?.source },
    key: { masked: maskKey(key.secret), source: key.source, shadowed: key.shadowed },
    check: verdict === undefined ? null : { ok: verdict.failure === undefined, plan: quota.plan ?? null },
  });
}
