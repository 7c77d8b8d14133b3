import { Option } from 'commander';
import { plans } from '../../../generated/service.ts';
import { choiceOption } from '../../choice-option.ts';
import type { CommandSpec, Invocation } from '../../command.ts';
import { usageError } from '../../errors/cli-error.ts';
import { runBesideMock, serveMock } from './run-mock.ts';
import { type MockOptions, PRESETS } from './start-mock.ts';

export const mockCommand: CommandSpec = {
  name: 'mock',
  summary: 'local mock server with invented rates, or a command beside it',
  description:
    'Starts a local server that behaves like the service, with invented rates, a key and real limits. With a command after --, it sets FXRATES_BASE_URL, FXRATES_API_KEY and FXRATES_MOCK_ADMIN_URL for that command, runs it, and stops with its exit code.',
  argument: { syntax: '[-- command...]', description: 'a command to run beside the mock' },
  options: () => [
    new Option('--port <port>', '0: any free port (default: 4010; 0 with a command)').argParser(parsePort),
    new Option('--host <address>', 'address to listen on (default: 127.0.0.1)'),
    new Option('--allow-remote', 'accept other machines and containers; --host is then 0.0.0.0'),
    choiceOption('--plan <plan>', `${PLAN_NAMES.join(', ')} (default: free)`, PLAN_NAMES).default('free'),
    new Option('--seed <number>', 'seed of the rates and the key (default: 1)').default(1).argParser(parseSeed),
    new Option('--now <time>', 'start the clock at this instant, e.g. 2026-01-31T23:59:00Z').argParser(parseTime),
    behaviourOption(),
    new Option('--replay <file>', 'answer latest with recorded responses'),
    new Option('--state <file>', 'persist accounts, keys and usage; resume if the file exists'),
  ],
  examples: [
    { command: 'fxrates mock', comment: 'prints the URL on stdout, the rest on stderr' },
    { command: 'fxrates mock -- npm test', comment: 'the exit code is that of npm test' },
    { command: 'fxrates mock --behaviour rateWindow=token-bucket', comment: 'one switch; TAB shows them all' },
    {
      command: 'fxrates mock --allow-remote',
      comment: 'in a container; FXRATES_MOCK_ADMIN_TOKEN sets its admin token',
    },
    { command: 'fxrates mock --port 0 --json', comment: 'one line with url, key, plan, pid and more' },
  ],
  notes: ['The key works with this mock only. Ctrl-C stops the server.'],
  callsService: false,
  run: runMock,
};

/** The presets are not all there is, so any text is accepted. */
function behaviourOption(): Option {
  const option = new Option(
    '--behaviour <preset|file|switch>',
    'documented, lenient, hostile, a file or switch=value (repeatable)',
  ).argParser((text: string, texts: readonly string[] = []) => [...texts, text]);
  option.argChoices = [...PRESETS];
  return option;
}

const PLAN_NAMES = Object.keys(plans);

function runMock(invocation: Invocation): Promise<number> {
  const { args, options } = invocation;
  const [separator, ...command] = args;
  if (separator === 'probe') {
    throw usageError('mock has no probe', undefined, [['fxrates', ...args].join(' ')]);
  }
  if (separator !== undefined && separator !== '--') {
    throw usageError(`'${separator}' is not an option of mock`, 'a command to run stands after --', [
      `fxrates mock -- ${args.filter((word) => word !== '--').join(' ')}`,
    ]);
  }
  if (separator !== undefined && !command[0]) {
    throw usageError('no command after --', 'an empty variable, perhaps; without -- it starts a server', [
      'fxrates mock -- npm test',
    ]);
  }
  const { host, allowRemote = false, ...given } = options as unknown as ParsedOptions; // by the options above
  const adminToken = invocation.io.env['FXRATES_MOCK_ADMIN_TOKEN'];
  const mock: MockOptions = {
    ...given,
    host: checkedHost(host ?? (allowRemote ? '0.0.0.0' : '127.0.0.1'), allowRemote),
    allowRemote,
    adminToken: checkedToken(adminToken),
  };
  return command.length > 0 ? runBesideMock(command, mock, invocation) : serveMock(mock, invocation);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw usageError(`--port expects a number from 0 to 65535, got '${text}'`);
}

type ParsedOptions = Omit<MockOptions, 'host' | 'allowRemote'> & Partial<Pick<MockOptions, 'host' | 'allowRemote'>>;

function checkedHost(host: string, allowRemote: boolean): string {
  if (allowRemote || /^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host)) return host;
  throw usageError(`--host expects a loopback address, got '${host}'`, '--allow-remote lets other machines connect', [
    `fxrates mock --host ${host} --allow-remote`,
  ]);
}

function checkedToken(token: string | undefined): string | undefined {
  if (token === undefined || token === '') return undefined;
  if (/^[\w-]{16,128}$/.test(token)) return token;
  throw usageError('FXRATES_MOCK_ADMIN_TOKEN expects 16 to 128 letters, digits, _ and -');
}

function parseSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usageError(`--seed expects a whole number from 0 to 999999999, got '${text}'`);
}

function parseTime(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw usageError(`--now expects a time with its zone, got '${text}'`, 'e.g. 2026-01-31T23:59:00Z');
}
