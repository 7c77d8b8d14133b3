import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { environmentProxy } from '../../../environment-proxy.ts';
import { apiKeyPattern } from '../../../generated/service.ts';
import type { Invocation } from '../../command.ts';
import { CliError } from '../../errors/cli-error.ts';
import type { Io } from '../../io.ts';
import { type KeyInUse, requireKey } from '../../settings/api-key.ts';
import { requireBaseUrl } from '../../settings/base-url.ts';
import { CONFIG_SETTINGS } from '../../settings/config-settings.ts';
import { type ConfigFile, configPath, configValue, profileNames, readConfig } from '../../storage/config-file.ts';
import { credentialsPath } from '../../storage/credentials.ts';
import { readJsonFile } from '../../storage/json-file.ts';
import { maskKey } from '../../terminal/redactor.ts';
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
    const shadows = key.shadowed.length === 0 ? '' : `; overrides ${key.shadowed.join(' and ')}`;
    const text = `${maskKey(key.secret)} (from ${key.source}${shadows})`;
    if (new RegExp(apiKeyPattern).test(key.secret)) return { key, finding: { name, status: 'ok', text } };
    const next = [
      'The documented form is a prefix that ends with _live_, then 48 hexadecimal digits. Was all of it copied?',
    ];
    return { key, finding: { name, status: 'warn', text: `${text} does not have the documented form`, next } };
  } catch (error) {
    if (error instanceof CliError) return { finding: failed(name, error) };
    throw error;
  }
}

export function checkProxy(baseUrl: string | undefined, { io }: Invocation): Finding {
  const name = 'proxy';
  const proxy = baseUrl !== undefined && URL.canParse(baseUrl) ? environmentProxy(io.env, baseUrl) : undefined;
  if (proxy === undefined) return { name, status: 'ok', text: 'none for this base URL' };
  const { variable, host, problem } = proxy;
  if (problem === undefined) return { name, status: 'ok', text: `${variable}: ${host}, except for NO_PROXY` };
  return {
    name,
    status: 'fail',
    text: `${variable} ${problem}`,
    next: ['e.g. http://proxy.example:3128'],
  };
}

/** The two files of the configuration: whether they can be read, make sense, and are for their owner only. */
export async function checkStorage(env: Io['env']): Promise<readonly Finding[]> {
  return [
    await checkFile('config file', configPath(env), async () => checkValues(await readConfig(env))),
    await checkFile('credentials', credentialsPath(env), async (path) => void (await readJsonFile(path))),
  ];
}

async function checkFile(
  name: string,
  path: string | undefined,
  check: (path: string) => Promise<void>,
): Promise<Finding> {
  if (path === undefined) return { name, status: 'warn', text: 'HOME is not set, so nothing can be stored' };
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return { name, status: 'ok', text: `none (${path})` };
  try {
    await check(path);
  } catch (error) {
    if (error instanceof CliError) return failed(name, error);
    throw error;
  }
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  const isPrivate = process.platform === 'win32' || (stats.mode & 0o077) === 0; // Windows has no such modes
  if (isPrivate) return { name, status: 'ok', text: `${path} (mode ${mode})` };
  const next = [`chmod 600 ${path} && chmod 700 ${dirname(path)}`];
  return { name, status: 'warn', text: `${path} is readable by other users (mode ${mode})`, next };
}

function checkValues(config: ConfigFile): void {
  for (const profile of [undefined, ...profileNames(config)]) {
    for (const [name, check] of Object.entries(CONFIG_SETTINGS)) {
      const value = configValue(config, name, profile);
      if (value !== undefined) check(value, `${name} in ${config.path}`);
    }
  }
}
