import { maskKey } from '../../redactor.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { printError } from '../errors/print-error.ts';
import { exitCodes } from '../io/exit-codes.ts';
import { CliCommand } from '../parser/command.ts';
import { sendQuotaRequest } from '../request/send-request.ts';
import { checkBaseUrl, requireBaseUrl } from '../settings/base-url.ts';
import {
  CliOption,
  checkOptions,
  connectionOptions,
  dataOptions,
  keyOptions,
  profileOption,
  type ValuesOf,
} from '../settings/options.ts';
import { checkKey, requireKey } from '../settings/resolve-key.ts';
import type { CliSettings, Invocation } from '../settings/settings.ts';
import { changeConfig, changeCredential, profilesWithKey, requireConfig } from '../settings/stored-files.ts';
import type { Screen } from '../terminal/screen.ts';
import { wrap } from '../terminal/text.ts';
import { accessOf, attempt, checkService, printFindings } from './doctor.ts';

const loginOptions = () => [new CliOption('--no-verify', 'store the key without checking it')];
const statusOptions = () => [new CliOption('--no-verify', 'do not check the key')];
const tokenOptions = () => [new CliOption('--show', 'also print the key on a terminal')];

export function authCommand(): CliCommand {
  const auth = new CliCommand('auth').about({
    summary: 'store, check and remove your key',
    description:
      'Stores the key in credentials.json, which only you can read. The key is sent only to the origin that it was stored for.',
  });
  for (const command of commandsOfKey()) auth.addCommand(command);
  return auth;
}

function loginCommand(): CliCommand {
  return new CliCommand('login')
    .about({
      summary: 'store a key for a base URL',
      description:
        'Prompts for the base URL if none is set, and for the key without showing it. Checks the key with one free quota call, then stores both.',
      examples: [
        { command: 'fxrates auth login', comment: 'asks for the base URL and the key' },
        { command: 'fxrates auth login --base-url https://api.example.test', comment: '' },
        { command: 'fxrates auth login --key-stdin < key.txt', comment: '' },
      ],
      notes: [
        'A key that the service refuses, or that cannot be checked, is not stored. The key is sent only to the origin of this base URL.',
      ],
    })
    .with(loginOptions)
    .with(connectionOptions)
    .runs(login, { createsProfile: true });
}

function commandsOfKey(): readonly CliCommand[] {
  return [
    loginCommand(),
    new CliCommand('status')
      .about({
        summary: 'the key in use, its source, and whether it is valid',
        description:
          'Shows the base URL and the key in use with their sources, and the sources that the key overrides. Checks the key with one free quota call.',
      })
      .with(statusOptions)
      .with(() => [...dataOptions(), ...checkOptions()])
      .runs(status),
    new CliCommand('logout')
      .about({
        summary: 'remove the stored key',
        description:
          'Removes the stored key of the profile. The key itself stays valid until it is revoked in the dashboard.',
      })
      .with(() => [profileOption()])
      .runs(logout),
    new CliCommand('token')
      .about({
        summary: 'print the key, for scripts',
        description: 'Prints the key in use. On a terminal, --show is required.',
        examples: [{ command: 'FXRATES_API_KEY=$(fxrates auth token) ./script', comment: '' }],
      })
      .with(tokenOptions)
      .with(keyOptions)
      .runs(printToken),
  ];
}

/** Stores a key and the base URL that it belongs to under the profile. */
async function login(given: Invocation<ValuesOf<typeof loginOptions>>): Promise<void> {
  requireConfig(given.config); // it gets the base URL
  const settings = await withBaseUrl(given);
  const invocation = { ...given, settings };
  const { screen, io, options } = invocation;
  const baseUrl = requireBaseUrl(settings);
  const secret = await readKey(invocation);
  screen.secrets.protect(secret);
  if (options.verify) {
    const key = { secret, source: 'this login', shadowed: [] };
    await sendQuotaRequest(invocation, { key }).catch(notStored);
  }
  const { profile } = settings;
  const path = await changeCredential(io, profile, { origin: new URL(baseUrl).origin, secret });
  const configPath = await changeConfig(io, 'base_url', { value: baseUrl, profile });
  await screen.remark(`key ${maskKey(secret)} for ${baseUrl} stored in ${path}, profile ${profile}`);
  await screen.remark(`base URL stored in ${configPath}`);
  for (const name of ['FXRATES_API_KEY', 'FXRATES_API_KEY_FILE']) {
    if (io.env[name]) await screen.warn(`${name} overrides the stored key`);
  }
}

/** The settings, with a base URL from a prompt if none is set. Asks again after an invalid one, but not after an empty line. */
async function withBaseUrl(invocation: Invocation): Promise<CliSettings> {
  const { settings, screen, io } = invocation;
  if (settings.baseUrl !== undefined || settings.keyStdin || !canAsk(invocation)) return settings;
  const line = await io.stdin.typedLine({
    question: onScreen('Base URL of the service, e.g. https://api.example.test: ', screen),
  });
  const baseUrl = { text: line.trim(), source: 'the base URL' };
  if (baseUrl.text === '') return settings;
  const checked = await attempt(() => checkBaseUrl(baseUrl));
  if (!(checked instanceof CliError)) return { ...settings, baseUrl };
  await printError(checked, screen);
  return withBaseUrl(invocation);
}

/** A question in lines that fit on the terminal. */
function onScreen(question: string, { err }: Screen): string {
  return wrap(question, err.columns).join('\n');
}

function canAsk({ io, settings }: Invocation): boolean {
  return io.stdin.isTTY && io.stderr.isTTY && settings.mayAsk;
}

/** From `--key-stdin` or `--key-file`, else from a prompt. Variables are not read: there is no need to store their key. */
async function readKey(invocation: Invocation): Promise<string> {
  const { settings, io, screen } = invocation;
  if (settings.keyStdin || settings.keyFile !== undefined) return (await requireKey(invocation)).secret;
  if (!canAsk(invocation)) {
    const disabled = 'prompts are disabled (--no-input, FXRATES_NO_INPUT or CI)';
    const why = settings.mayAsk ? 'a prompt needs a terminal as stdin and stderr' : disabled;
    throw usageError('no key to store', why, ['From a file:  --key-stdin < key.txt']);
  }
  const question = `API key for ${settings.baseUrl?.text} (input is hidden): `;
  const line = await io.stdin.typedLine({ question: onScreen(question, screen), isHidden: true });
  const secret = line.trim();
  checkKey(secret, 'the prompt');
  return secret;
}

/** For a key that the service refuses, or whose check does not show whether it is valid. */
function notStored(failure: unknown): never {
  if (!(failure instanceof CliError)) throw failure;
  const { details, message } = failure;
  const isRefused = details.code === 'authentication';
  const [what, why] = isRefused ? ['the service refuses this key'] : ['the key could not be checked', message];
  const hints = [...(isRefused ? [] : (details.hints ?? [])), 'To store it without a check:  --no-verify'];
  throw new CliError(`${what}; nothing is stored`, { ...details, why, hints, cause: failure });
}

/** Prints the base URL and the key in use with their sources, and whether the service accepts the key. */
async function status(invocation: Invocation<ValuesOf<typeof statusOptions>>): Promise<number> {
  const access = await accessOf(invocation);
  const checks = invocation.options.verify ? await checkService(access, invocation) : [];
  const failure = await printFindings([...access.findings, ...checks], invocation);
  return failure?.exitCode ?? exitCodes.ok;
}

/** Removes the stored key of the profile; does nothing if the profile has no key. */
async function logout({ io, screen, config, settings: { profile } }: Invocation): Promise<void> {
  if (!profilesWithKey(io.env, profile).includes(profile))
    return screen.remark(`no key is stored for profile ${profile}`);
  const path = await changeCredential(io, profile, undefined);
  await screen.remark(`key of profile ${profile} removed from ${path}; it stays valid until it is revoked`);
  if (config.profiles.get(profile)?.has('base_url')) await screen.remark(`base URL is still stored in ${config.path}`);
}

/** Prints the key in full, the only command that does. */
async function printToken(invocation: Invocation<ValuesOf<typeof tokenOptions>>): Promise<void> {
  const { screen, options } = invocation;
  if (screen.out.isTTY && !options.show) {
    throw usageError('refusing to show the key on a terminal', undefined, ['To show it:  --show']);
  }
  const { secret } = await requireKey(invocation);
  await screen.printWithSecret(`${screen.isJson ? JSON.stringify({ api_key: secret }) : secret}\n`);
}
