import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../errors/cli-error.ts';
import type { Io } from '../io.ts';
import { CONFIG_SETTINGS } from '../settings/config-settings.ts';
import { type ConfigFile, configPath, configValue, profileNames, readConfig } from '../storage/config-file.ts';
import { credentialsPath } from '../storage/credentials.ts';
import { readJsonFile } from '../storage/json-file.ts';
import { type Finding, failed } from './finding.ts';

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
  return { name, status: 'warn', text: `${path} can be read by others (mode ${mode})`, next };
}

function checkValues(config: ConfigFile): void {
  for (const profile of [undefined, ...profileNames(config)]) {
    for (const [name, check] of Object.entries(CONFIG_SETTINGS)) {
      const value = configValue(config, name, profile);
      if (value !== undefined) check(value, `${name} in ${config.path}`);
    }
  }
}
