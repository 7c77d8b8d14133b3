import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { LOOPBACK_ADDRESS } from '../../../environment-proxy.ts';
import { type PlanName, plans } from '../../../generated/service.ts';
import { parseIsoInstant } from '../../../iso-instant.ts';
import { isJsonObject, jsonDocuments } from '../../../json.ts';
import type {
  CreatedKey,
  KeyLimitOptions,
  MockServer,
  MockServerOptions,
  PresetName,
  RunningServer,
  SetupKey,
  TlsOptions,
} from '../../../mock-server/index.ts';
import { nearestName } from '../../../nearest-name.ts';
import { CliError, systemReason, usageError } from '../../errors/cli-error.ts';
import { type ExitCode, exitCodes } from '../../io/exit-codes.ts';
import { readLimited } from '../../io/io.ts';
import { parseJsonFile } from '../../settings/json-file.ts';
import { CliOption, fileOption, repeatableOption, type ValuesOf } from '../../settings/options.ts';
import type { Invocation } from '../../settings/settings.ts';
import { oneOf, parseDuration, wholeNumber } from '../../settings/values.ts';
import { lowerFirst } from '../../terminal/text.ts';

const PLAN_NAMES = Object.keys(plans) as readonly PlanName[]; // Object.keys loses the type

/** `[::1]`, as in a URL. */
const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1');

export const mockOptions = () => [
  new CliOption('--port <port>', '0: any free port (default: 4010; 0 with a command)', wholeNumber(0, 65_535)),
  new CliOption('--host <address>', 'address (default: 127.0.0.1; :: for IPv6 too)', withoutBrackets),
  new CliOption('--allow-remote', 'accept other machines (default host: 0.0.0.0)'),
  fileOption('--tls-cert <file>', 'serve https with this certificate (PEM)'),
  fileOption('--tls-key <file>', 'private key of the certificate (PEM)'),
  new CliOption('--plan <plan>', `${PLAN_NAMES.join(', ')} (default: free)`, oneOf(PLAN_NAMES)),
  new CliOption('--limit <rate>', 'requests per time, e.g. 2/1s (default: of the plan)', parseLimit),
  new CliOption('--monthly <n>', 'requests per month (default: of the plan)', wholeNumber(0, 1_000_000_000)),
  new CliOption('--seed <number>', 'seed of the rates and the key (default: 1)', wholeNumber(0, 999_999_999)),
  new CliOption('--now <time>', 'start time of the clock, e.g. 2026-01-31T23:59:00Z', parseTime),
  new CliOption('--frozen', 'freeze the clock; POST /__fxrates/clock moves it'),
  repeatableOption(
    '--behaviour <file>',
    `${PRESETS.join(', ')}, switch=value, or a file of switches (repeatable)`,
    PRESETS,
  ),
  fileOption('--setup <file>', 'start with the keys and rules of a file'),
  fileOption('--replay <file>', 'respond to latest with recorded responses'),
  new CliOption('--journal-size <n>', 'requests that the journal keeps (default: 1000)', wholeNumber(0, 1_000_000)),
  fileOption('--state <file>', 'persist the state; resume if the file exists'),
];

export type MockOptions = ValuesOf<typeof mockOptions>;

/** `2/1s`. */
function parseLimit(text: string, label: string): KeyLimitOptions {
  const [, count, duration] = /^(\d{1,7})\/(.+)$/.exec(text) ?? [];
  const requests = Number(count);
  const windowMs = duration === undefined ? 0 : parseDuration(duration, label);
  if (requests >= 1 && requests <= 1_000_000 && windowMs >= 1 && windowMs <= DAY_MS) return { requests, windowMs };
  throw usageError(`${label} expects requests and a time, got '${text}'`, 'e.g. 2/1s, 30/1m; at most 1000000/24h');
}

const DAY_MS = 86_400_000;

function parseTime(text: string): string {
  if (!Number.isNaN(parseIsoInstant(text))) return text;
  throw usageError(`--now expects a time with its zone, got '${text}'`, 'e.g. 2026-01-31T23:59:00Z');
}

export interface StartOptions extends MockOptions {
  readonly port: number;
  readonly host: string;
  /** Token of the admin API. Default: a random one. */
  readonly adminToken: string | undefined;
}

/** A mock server that listens, with a key to use it. */
export interface RunningMock extends RunningServer, PrintedKey {
  readonly server: MockServer;
  /** Absolute path of the certificate; `undefined` for http. */
  readonly certificate: string | undefined;
  /** The key, and the other keys of the setup. */
  readonly keys: readonly PrintedKey[];
}

interface PrintedKey {
  readonly id: string;
  readonly key: string;
  readonly plan: PlanName;
  /** In place of those of the plan. */
  readonly limits?: KeyLimitOptions | undefined;
  readonly state: 'active' | 'revoked';
}

/** Starts a mock server, which no other command loads. Warns of options that the state file overrides. */
export async function startMock(options: StartOptions, invocation: Invocation): Promise<RunningMock> {
  const { port, host, allowRemote, adminToken, seed, now, frozen, journalSize, state } = options;
  const read = fileReader(invocation);
  const [tls, behaviour, replay, setupText] = await Promise.all([
    readTls(options, read),
    readBehaviour(options.behaviour, read),
    readRecorded(options.replay, read),
    readSetup(options, read),
  ]);
  const clock = { mode: 'real', now, frozen } as const;
  const given = { seed, clock, behaviour, recording: replay, journalSize, setup: setupText };
  const fresh = await createMock(given, options);
  const [first] = fresh.setupKeys as readonly [CreatedKey]; // `readSetup` adds a missing key
  const wanted = printedKey(first, fresh);
  const mock = state === undefined ? fresh : await createMock({ ...given, state }, options);
  // An empty file, such as one created for a mount, is an empty state.
  const isResumed = state !== undefined && (statSync(state, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const listening = await mock.serve({ port, host, allowRemote, tls, adminToken }).catch(async (cause: unknown) => {
    await mock.close().catch(() => undefined); // the first error is the one to report
    throw serveError(cause, options);
  });
  // The command line takes precedence over the state file.
  if (behaviour !== undefined) mock.behaviour.set(behaviour);
  if (isResumed && replay !== undefined) {
    mock.latest.reset();
    mock.setUp({ rules: await rulesOf(replay) });
  }
  // The state of another seed or setup has other keys.
  const known = mock.setupKeys.map((key) => printedKey(key, mock));
  const isUsable = known.some((key) => isDeepStrictEqual(key, wanted));
  const main = isUsable ? wanted : printedKey(mock.createKey({ plan: wanted.plan, limits: wanted.limits }), mock);
  const others = known.filter(({ id }) => id !== wanted.id);
  const warnings = isResumed ? overriddenByStateFile(state, options) : [];
  warnings.push(...resetWarning(main, wanted), ...remoteWarning(host, listening.port));
  for (const warning of warnings) void invocation.screen.warn(warning);
  const certificate = options.tlsCert && resolve(options.tlsCert);
  const close = () =>
    mock.close().catch((cause: unknown) => {
      throw stateError(cause, exitCodes.failure) ?? cause;
    });
  return { ...listening, ...main, close, server: mock, keys: [main, ...others], certificate };
}

function printedKey({ id, key }: CreatedKey, { accounts, keys }: MockServer): PrintedKey {
  const { accountId, limits, state } = keys.get(id);
  return { id, key, plan: accounts.get(accountId).plan, limits, state };
}

/** The initial state has only the keys of the setup. */
function resetWarning(main: PrintedKey, ofSetup: PrintedKey): readonly string[] {
  if (main === ofSetup) return [];
  return ['the printed key is an additional one in the state; POST /__fxrates/reset removes it'];
}

/** The printed URL has a loopback address, also if other machines can connect. */
function remoteWarning(host: string, port: number): readonly string[] {
  if (LOOPBACK_ADDRESS.test(host)) return [];
  const addresses = /^[0:.]*$/.test(host) ? 'all addresses' : host;
  return [`the mock listens on ${addresses}, port ${port}; other machines can connect to it`];
}

/** A resumed mock continues with its own time, seed and setup. */
function overriddenByStateFile(path: string, options: MockOptions): string[] {
  const typed = (['now', 'frozen', 'seed', 'setup'] as const).filter((name) => options[name] !== undefined);
  if (typed.length === 0) return [];
  const names = typed.map((name) => `--${name}`).join(', ');
  return [`${path} exists, which overrides ${names}; move it away to start with an empty state`];
}

/** Of the options, only those of `setup`, `replay` and `--behaviour` can be invalid here: the parser checks the others. */
async function createMock(
  { recording, ...options }: MockServerOptions & { readonly recording: string | undefined },
  paths: Pick<MockOptions, 'setup' | 'replay'>,
): Promise<MockServer> {
  const { createMockServer, MockServerError } = await import('../../../mock-server/index.ts');
  try {
    return createMockServer({ ...options, rules: await rulesOf(recording) });
  } catch (error) {
    throw error instanceof MockServerError ? (stateError(error, exitCodes.usage) ?? optionError(error, paths)) : error;
  }
}

async function rulesOf(recording: string | undefined): Promise<MockServerOptions['rules']> {
  const { recordedRules } = await import('../../../mock-server/index.ts');
  return recording === undefined ? [] : recordedRules(recording);
}

function optionError(
  { message: stated, field = '' }: { readonly message: string; readonly field?: string | undefined },
  { setup = '', replay = '' }: Pick<MockOptions, 'setup' | 'replay'>,
): CliError {
  const message = stated.replace(/\.$/, '');
  if (/^setup\b/.test(field)) return unusableFile(setup, message.replace(/^setup[.:] ?/, ''));
  if (/^recording\b/.test(field)) return unusableFile(replay, message);
  return usageError(message, undefined, /^behaviour\b/.test(field) ? [ALL_SWITCHES] : []);
}

const ALL_SWITCHES = 'All switches and their values:  docs/switches.md, or TAB after --behaviour';

function serveError(cause: unknown, options: StartOptions): unknown {
  const { host, port, tlsCert = '', tlsKey = '' } = options;
  const ofState = stateError(cause, exitCodes.usage); // may have the code of a port, such as EACCES
  if (ofState !== undefined) return ofState;
  const message = cause instanceof Error ? cause.message : '';
  const [, what] = /^tls .*?: (.*)\.$/.exec(message) ?? [];
  if (what !== undefined) return unusableFile(`${tlsCert} and ${tlsKey}`, `expected ${what}`, { cause });
  const freePort = 'Use a free port:  --port 0';
  const notHere = [`${host} is not an address of this machine`, 'The default is --host 127.0.0.1'] as const;
  const reasons: Readonly<Record<string, readonly [what: string, hint: string]>> = {
    EADDRINUSE: [`port ${port} is in use`, freePort],
    EACCES: [`port ${port} is not allowed`, freePort],
    EADDRNOTAVAIL: notHere,
    ENOTFOUND: notHere,
  };
  const reason = reasons[systemCode(cause) ?? ''];
  if (reason === undefined) return cause;
  const [problem, hint] = reason;
  return new CliError(problem, { code: 'cannot_listen', hints: [hint], cause });
}

function systemCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('syscall' in current && 'code' in current) return String(current.code);
  }
  return undefined;
}

function stateError(error: unknown, exitCode: ExitCode): CliError | undefined {
  const isOfState = error instanceof Error && 'code' in error && /^state_(?:unusable|in_use)$/.test(String(error.code));
  return isOfState
    ? new CliError(lowerFirst(error.message.replace(/\.$/, '')), { code: 'file', exitCode, cause: error })
    : undefined;
}

/** The presets of switches. */
const PRESETS = ['documented', 'lenient', 'hostile'] as const satisfies readonly PresetName[];

/** Merges the values of `--behaviour`. Later values take precedence. */
async function readBehaviour(
  texts: readonly string[] | undefined,
  read: ReadFile,
): Promise<MockServerOptions['behaviour']> {
  if (texts === undefined) return undefined;
  const parts = await Promise.all(texts.map((text) => readSwitches(text, read)));
  return Object.assign({}, ...parts);
}

/** A preset, `switch=value`, or else the path of a file of switches such as a probe writes. */
async function readSwitches(text: string, read: ReadFile): Promise<object> {
  const preset = PRESETS.find((name) => name === text);
  if (preset !== undefined) return { preset };
  const [, name, value = ''] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
  if (name !== undefined) return { [name]: switchValue(value) };
  const meant = nearestName(text, PRESETS);
  const hints = [meant === undefined ? ALL_SWITCHES : `Did you mean ${meant}?`];
  const expected = `a preset (${PRESETS.join(', ')}), switch=value or a file of switches`;
  const { value: switches } = jsonIn(await read(text, expected, hints), text, hints);
  if (typeof switches === 'string') return { preset: switches };
  if (isJsonObject(switches)) return switches;
  throw unusableFile(text, 'expected an object of switches', { hints });
}

function switchValue(text: string): unknown {
  return /^(-?\d+|true|false|null)$/.test(text) ? JSON.parse(text) : text;
}

/**
 * The setup as JSON, with a key if it has none: the key that the command prints is part of the initial state, which a reset
 * restores. The numbers keep their digits.
 */
async function readSetup(options: MockOptions, read: ReadFile): Promise<string> {
  const { setup: path } = options;
  const expected = 'a file with keys, behaviour or rules';
  const json = path === undefined ? { text: '{}', value: {} } : jsonIn(await read(path, expected), path);
  const { value: setup } = json;
  const text = json.text.trim();
  if (!isJsonObject(setup)) return text; // which the mock refuses
  const { keys = [] } = setup;
  if (Array.isArray(keys) && keys.length === 0) {
    const added = `"keys":${JSON.stringify([keyOf(options)])}}`; // of fields with the same name, the last one applies
    return text.slice(0, -1) + (Object.keys(setup).length === 0 ? added : `,${added}`);
  }
  const ignored = (['plan', 'limit', 'monthly'] as const).find((name) => options[name] !== undefined);
  if (ignored !== undefined) throw usageError(`--${ignored} has no effect`, `${path} has keys with plans`);
  return text;
}

/** The key of the options, as a setup has it. */
function keyOf({ plan, limit, monthly }: MockOptions): SetupKey {
  return limit === undefined && monthly === undefined ? { plan } : { plan, limits: { ...limit, monthly } };
}

async function readTls({ tlsCert, tlsKey }: MockOptions, read: ReadFile): Promise<TlsOptions | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined) throw usageError('--tls-key needs --tls-cert', 'the certificate of the key');
  if (tlsKey === undefined) throw usageError('--tls-cert needs --tls-key', 'the private key of the certificate');
  const [cert, key] = await Promise.all([read(tlsCert, 'a certificate as PEM'), read(tlsKey, 'a private key as PEM')]);
  return { cert, key };
}

/** `expected`: what the file has to contain, for the message. */
type ReadFile = (path: string, expected: string, hints?: readonly string[]) => Promise<Buffer>;

function fileReader({ io }: Invocation): ReadFile {
  return (path, expected, hints) =>
    readLimited(path, io.interrupts.signal, (cause) => {
      throw unusableFile(path, `${systemReason(cause)}; expected ${expected}`, { cause, hints });
    });
}

/** A JSON text, or the lines that `latest --fixture-out` appends, of which the last one may be incomplete. */
async function readRecorded(path: string | undefined, read: ReadFile): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const bytes = await read(path, 'a file of recorded responses');
  const lines = bytes.toString();
  return jsonDocuments(lines).length > 0 ? lines : jsonIn(bytes, path).text;
}

function jsonIn(bytes: Buffer, path: string, hints?: readonly string[]) {
  const json = parseJsonFile(bytes);
  if ('problem' in json) throw unusableFile(path, json.problem, { hints });
  return json;
}

type UnusableDetails = Pick<CliError['details'], 'cause' | 'hints'>;

function unusableFile(path: string, why: string, details: UnusableDetails = {}): CliError {
  return new CliError(`cannot use ${path}`, { code: 'file', exitCode: exitCodes.usage, why, ...details });
}
