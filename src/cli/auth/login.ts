import { CliError, usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { checkKey, LONGEST_KEY, requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { changeConfig } from '../storage/config-file.ts';
import { storeCredential } from '../storage/credentials.ts';
import { maskKey } from '../terminal/redactor.ts';
import { verifyKey } from './verdict.ts';

/** Stores a key and the base URL that it belongs to under the profile. */
export async function login(invocation: Invocation): Promise<number> {
  const { settings, screen, io, options } = invocation;
  const baseUrl = requireBaseUrl(settings);
  const secret = await readKey(invocation);
  screen.secrets.protect(secret);
  if (options['verify'] !== false) await refuseRejectedKey(secret, invocation);
  const { profile } = settings;
  const path = await storeCredential(io, profile, { origin: new URL(baseUrl).origin, secret });
  const configPath = await changeConfig(io, 'base_url', { value: baseUrl, profile });
  await screen.info(`fxrates: key ${maskKey(secret)} for ${baseUrl} stored in ${path}, profile ${profile}\n`);
  await screen.info(`fxrates: base URL kept in ${configPath}\n`);
  for (const name of ['FXRATES_API_KEY', 'FXRATES_API_KEY_FILE']) {
    if (io.env[name]) await screen.warn(`${name} is set and comes before the stored key`);
  }
  return exitCodes.ok;
}

/** From `--key-stdin` or `--key-file`, else asked for. A variable does not count: it needs no storing. */
async function readKey({ settings, screen, io }: Invocation): Promise<string> {
  if (settings.keyStdin || settings.keyFile !== undefined) return (await requireKey(settings, io)).secret;
  if (!io.stdin.isTTY || !io.stderr.isTTY || !settings.mayAsk) {
    throw usageError('no key to store', settings.mayAsk ? 'this is no terminal to ask for it' : 'asking is off', [
      'fxrates auth login --key-stdin < key.txt',
    ]);
  }
  const prompt = () => screen.error(`API key for ${settings.baseUrl?.text} (does not show): `);
  const secret = await io.stdin.hiddenLine(LONGEST_KEY, prompt).finally(() => screen.error('\n'));
  checkKey(secret, 'the prompt');
  return secret;
}

/** A refused key is not stored; a service that cannot be asked is no reason against it. */
async function refuseRejectedKey(secret: string, invocation: Invocation): Promise<void> {
  const { failure } = await verifyKey({ secret, source: 'this login', shadowed: [] }, invocation);
  if (failure === undefined) return;
  if (failure.exitCode === exitCodes.authentication) {
    throw new CliError('the service refuses this key; nothing is stored', {
      code: failure.code,
      exitCode: failure.exitCode,
      status: failure.status,
      causeCode: failure.causeCode,
      hints: ['Store it anyway:  fxrates auth login --no-verify'],
      cause: failure,
    });
  }
  await invocation.screen.warn(`the key could not be checked: ${failure.message}`);
}
