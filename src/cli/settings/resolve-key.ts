import { keyProblem } from '../../redactor.ts';
import { checkWritable } from '../../replace-file.ts';
import { CliError, cannotWrite, loginLine, systemReason, usageError } from '../errors/cli-error.ts';
import { type Io, readLimited } from '../io/io.ts';
import { checkBaseUrl } from './base-url.ts';
import { withHome } from './folders.ts';
import type { CliSettings, Invocation } from './settings.ts';
import { configPath, credentialsPath, readCredential, type StoredKey } from './stored-files.ts';

/** The key of a command and its source. */
export interface KeyInUse {
  readonly secret: string;
  readonly source: string;
  /** Sources that are set too, but count less. */
  readonly shadowed: readonly string[];
}

interface Source {
  readonly label: string;
  read(): Promise<string>;
}

/** Longer than any key. */
const LONGEST_KEY = 4096;

/**
 * Reads the key from the first source that is set: `--key-stdin`, `--key-file`, FXRATES_API_KEY, FXRATES_API_KEY_FILE,
 * the stored key of the profile. The stored key is only sent to its own origin. All later output masks the key.
 */
export async function requireKey({
  settings,
  io,
  screen,
}: Pick<Invocation, 'settings' | 'io' | 'screen'>): Promise<KeyInUse> {
  const typed = typedSources(settings, io);
  const credential = await readCredential(io.env, settings.profile).catch((error) => {
    if (typed.length === 0) throw error; // a broken file matters when its key does
    return undefined;
  });
  if (credential?.wasReadable) {
    const advice = 'its mode is now 0600. If the machine is shared, create a new key';
    await screen.warn(`${credential.path} was readable by other users; ${advice}`);
  }
  const [source, ...others] = [...typed, ...storedSources(credential, settings)];
  if (source === undefined) throw noKey(settings);
  const secret = await source.read();
  checkKey(secret, source.label);
  screen.secrets.protect(secret);
  return { secret, source: source.label, shadowed: others.map(({ label }) => label) };
}

function typedSources({ keyStdin, keyFile }: CliSettings, { env, stdin, interrupts: { signal } }: Io): Source[] {
  const { FXRATES_API_KEY: key, FXRATES_API_KEY_FILE: path } = env;
  const found: Source[] = [];
  if (keyStdin) found.push({ label: '--key-stdin', read: () => readStdin(stdin) });
  if (keyFile !== undefined) found.push({ label: `--key-file ${keyFile}`, read: () => readKeyFile(keyFile, signal) });
  if (key) found.push({ label: 'FXRATES_API_KEY', read: async () => keyIn(key) });
  if (path) found.push({ label: `FXRATES_API_KEY_FILE ${path}`, read: () => readKeyFile(withHome(path, env), signal) });
  return found;
}

/** Checks, before anything is sent, a file that an option names. @throws CliError also for a file of keys or settings */
export function checkOutputFile(
  path: string,
  { io: { env }, settings: { keyStdin, keyFile } }: Pick<Invocation, 'io' | 'settings'>,
): Promise<void> {
  const { FXRATES_API_KEY_FILE: ofVariable, NODE_EXTRA_CA_CERTS: certificates } = env;
  const kept = {
    'it is the key file': keyFile,
    'it is the file of FXRATES_API_KEY_FILE': ofVariable && withHome(ofVariable, env),
    'the key is read from it': keyStdin ? '/dev/stdin' : undefined,
    'it contains the settings': configPath(env),
    'it contains the stored keys': credentialsPath(env),
    'it is the file of NODE_EXTRA_CA_CERTS': certificates,
  };
  return checkWritable(path, kept).catch(cannotWrite(path, 'usage'));
}

function storedSources(credential: StoredKey | undefined, { baseUrl, profile }: CliSettings): Source[] {
  if (credential === undefined) return [];
  const { origin, secret, path } = credential;
  const read = async () => {
    if (baseUrl === undefined) return secret;
    checkBaseUrl(baseUrl);
    if (new URL(baseUrl.text).origin !== origin) throw otherOrigin(credential, baseUrl.text);
    return secret;
  };
  return [{ label: `profile ${profile} in ${path}`, read }];
}

function otherOrigin({ origin }: StoredKey, baseUrl: string): CliError {
  return new CliError(`refusing to send the stored key to ${new URL(baseUrl).origin}`, {
    code: 'other_origin',
    why: `it belongs to ${origin}`,
    hints: [`To store a key for this URL:  ${loginLine('another', baseUrl)}`],
  });
}

async function readStdin(stdin: Io['stdin']): Promise<string> {
  if (stdin.isTTY) {
    throw usageError('--key-stdin needs a pipe or a file', 'the terminal would show the key as you type', [
      'fxrates quota --key-stdin < key.txt',
    ]);
  }
  const isEnough = (text: string) => text.includes('\n') || text.length > LONGEST_KEY;
  const text = await stdin.text((cause) => {
    throw unusableKey('cannot read the key from standard input', systemReason(cause), cause);
  }, isEnough);
  return keyIn(text.replace(/\n.*/s, '\n'));
}

async function readKeyFile(path: string, interrupted: AbortSignal): Promise<string> {
  const bytes = await readLimited(path, interrupted, (cause) => {
    throw unusableKey(`cannot read the key file ${path}`, systemReason(cause), cause);
  });
  return keyIn(bytes.toString());
}

/** @throws CliError with the reason why the key is invalid, without the key */
export function checkKey(secret: string, label: string): void {
  const problem = keyProblem(secret);
  if (problem !== undefined) throw unusableKey(`the key from ${label} cannot be used`, `it ${problem}`);
}

/** Editors add a line end, and some of Windows a byte order mark. */
function keyIn(text: string): string {
  return text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
}

function unusableKey(what: string, why: string, cause?: unknown): CliError {
  return new CliError(what, { code: 'unusable_key', why, hints: ['Or store a key:  fxrates auth login'], cause });
}

function noKey({ baseUrl, profile }: CliSettings): CliError {
  return new CliError(`no API key${baseUrl === undefined ? '' : ` for ${baseUrl.text}`}`, {
    code: 'no_key',
    hints: [
      'Set it:      export FXRATES_API_KEY=…   or   --key-file /run/secrets/fxrates',
      `Store it:    ${loginLine(profile)}`,
      'No account?  fxrates mock   (a local server, invented rates; it prints a key)',
    ],
  });
}
