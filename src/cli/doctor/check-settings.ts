import { apiKeyPattern } from '../../generated/service.ts';
import { CliError } from '../errors/cli-error.ts';
import type { Invocation } from '../invocation.ts';
import { proxyFor, proxyHost } from '../request/connection.ts';
import { type KeyInUse, requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { maskKey } from '../terminal/redactor.ts';
import { type Finding, failed } from './finding.ts';

export function checkBaseUrlSetting({ settings }: Invocation): Finding {
  const name = 'base URL';
  try {
    return { name, status: 'ok', text: `${requireBaseUrl(settings)} (from ${settings.baseUrl?.source})` };
  } catch (error) {
    if (error instanceof CliError) return failed(name, error);
    throw error;
  }
}

/** Where the key comes from and whether it has the documented form; never the key itself. */
export async function checkKeySetting({
  settings,
  io,
  screen,
}: Invocation): Promise<{ readonly finding: Finding; readonly key?: KeyInUse }> {
  const name = 'key';
  try {
    const key = await requireKey(settings, io);
    screen.secrets.protect(key.secret);
    const shadows = key.shadowed.length === 0 ? '' : `; shadows ${key.shadowed.join(' and ')}`;
    const text = `${maskKey(key.secret)} (from ${key.source}${shadows})`;
    if (new RegExp(apiKeyPattern).test(key.secret)) return { key, finding: { name, status: 'ok', text } };
    const next = ['Documented is: a prefix that ends with _live_, then 48 hexadecimal digits. Was it copied whole?'];
    return { key, finding: { name, status: 'warn', text: `${text} does not have the documented form`, next } };
  } catch (error) {
    if (error instanceof CliError) return { finding: failed(name, error) };
    throw error;
  }
}

export function checkProxy(baseUrl: string | undefined, { io }: Invocation): Finding {
  const name = 'proxy';
  const variable = baseUrl !== undefined && URL.canParse(baseUrl) ? proxyFor(io.env, baseUrl) : undefined;
  if (variable === undefined) return { name, status: 'ok', text: 'none for this base URL' };
  const host = proxyHost(io.env, variable);
  if (host !== undefined) return { name, status: 'ok', text: `${variable}: ${host}, except for NO_PROXY` };
  return {
    name,
    status: 'fail',
    text: `${variable} is not the URL of a proxy`,
    next: ['e.g. http://proxy.example:3128'],
  };
}
