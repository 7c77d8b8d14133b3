import { exitCodeMeanings } from '../../exit-codes.ts';
import type { Entry } from '../../help/page.ts';
import { createGlobalOptions, OUTPUT_FORMATS } from '../../settings/global-options.ts';
import { CONFIG_SETTINGS } from '../../settings/settings.ts';

/** A page of `fxrates help <topic>`. */
export interface Topic {
  readonly title: string;
  readonly intro: string;
  readonly entries: readonly Entry[];
}

/** The topic of that name, if there is one. */
export function topicOf(name: string): Topic | undefined {
  return Object.hasOwn(topics, name) ? topics[name] : undefined;
}

export const topics: Readonly<Record<string, Topic>> = {
  options: {
    title: 'options that commands share',
    intro:
      'Shared options can precede or follow the command. A command rejects options that do not apply to it, such as --timeout if it sends nothing.',
    entries: createGlobalOptions().map(({ flags, description }) => ({ term: flags, text: description })),
  },
  'exit-codes': {
    title: 'the meaning of each exit code',
    intro: 'The numbers are stable. A new cause gets a new number.',
    entries: exitCodeMeanings.map(([code, name, meaning]) => ({
      term: `${String(code).padStart(3)}  ${name}`,
      text: meaning,
    })),
  },
  environment: {
    title: 'the variables fxrates reads',
    intro:
      'An option overrides its variable, a variable overrides config.json, and config.json overrides the default. An empty variable is ignored.',
    entries: [
      ...Object.entries(CONFIG_SETTINGS).flatMap(([name, { variable }]) =>
        variable === undefined ? [] : [{ term: `FXRATES_${name.toUpperCase()}`, text: variable }],
      ),
      { term: 'FXRATES_API_KEY', text: 'the API key; --key-stdin and --key-file come first' },
      { term: 'FXRATES_API_KEY_FILE', text: 'file with the API key, when FXRATES_API_KEY is not set' },
      { term: 'FXRATES_CONFIG_DIR', text: 'folder of config.json and credentials.json' },
      {
        term: 'XDG_CONFIG_HOME, XDG_CACHE_HOME',
        text: 'folders of fxrates/config.json and of cached responses; on Windows APPDATA, LOCALAPPDATA',
      },
      {
        term: 'XDG_STATE_HOME',
        text: 'folder of fxrates/limits, where commands share the limit, and of fxrates/currencies, for completion; on Windows LOCALAPPDATA',
      },
      {
        term: 'XDG_DATA_HOME',
        text: 'folder of the completion scripts of bash and zsh; on Windows LOCALAPPDATA',
      },
      { term: 'FXRATES_MOCK_ADMIN_TOKEN', text: 'admin token of fxrates mock (default: random)' },
      { term: 'FXRATES_NO_INPUT, CI', text: '1: disable prompts (--no-input)' },
      { term: 'FXRATES_DEBUG', text: '1: same as -v, 2: same as -vv' },
      {
        term: 'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY',
        text: 'proxy to use, except for hosts in NO_PROXY and for this machine',
      },
      { term: 'NODE_EXTRA_CA_CERTS', text: 'file with additional certificates to trust' },
      { term: 'NO_COLOR', text: 'not empty: no colour; overrides FORCE_COLOR' },
      {
        term: 'FORCE_COLOR, CLICOLOR_FORCE',
        text: 'colour in a pipe, except in data; --color always colours data, too',
      },
      { term: 'TZ', text: 'time zone of times for people; data is in UTC' },
    ],
  },
  'rate-limits': {
    title: 'the limit per minute, the quota per month',
    intro:
      'The plan of a key sets a limit of requests per minute and a quota per month. fxrates quota shows both. It is free, but counts toward the limit per minute.',
    entries: [
      {
        term: 'the limit per minute',
        text: 'a refused request (429) is sent again after Retry-After; it does not use monthly quota',
      },
      {
        term: '--max-wait 60s',
        text: 'longest total wait for the limit per minute. If a wait would exceed it, the command fails immediately with exit code 7. --no-wait is --max-wait 0',
      },
      {
        term: 'the quota per month',
        text: 'fxrates does not wait for the reset: it fails with exit code 8 and the time of the reset. One free quota call detects this',
      },
      { term: 'quota --fail-at 80%', text: 'exit code 8 at this usage or more, for cron and CI' },
      {
        term: 'latest --watch',
        text: 'without an interval: as often as the quota allows, at most once per snapshot. --force: continue even if that exhausts the quota',
      },
      { term: 'latest --cache 10m', text: 'sends no request if a cached response is younger than this' },
      {
        term: 'several processes',
        text: 'of one user on one machine share the limit through XDG_STATE_HOME/fxrates/limits, else ~/.local/state/fxrates/limits. FXRATES_SHARE_LIMIT=off: each process learns it from its own 429 responses',
      },
    ],
  },
  profiles: {
    title: 'stored settings and profiles',
    intro: 'Settings are in config.json, keys in credentials.json beside it. Only you can read the two files.',
    entries: [
      {
        term: 'fxrates config path',
        text: 'prints the path: FXRATES_CONFIG_DIR, else XDG_CONFIG_HOME/fxrates, else ~/.config/fxrates',
      },
      { term: 'fxrates config set', text: 'stores a setting; fxrates config --help has their names' },
      { term: '--profile <name>', text: 'a base URL with its key and, in the file, settings of its own' },
      {
        term: 'precedence',
        text: 'option, variable, setting of the profile, setting for all profiles, default: the first one that is set',
      },
      {
        term: 'a broken file',
        text: 'is reported with line and column (exit code 3) and not overwritten; help, version and config path still work',
      },
    ],
  },
  security: {
    title: 'how keys are stored',
    intro: 'No option accepts a key, because other users can see command lines, and shells record them.',
    entries: [
      {
        term: 'precedence',
        text: '--key-stdin, --key-file, FXRATES_API_KEY, FXRATES_API_KEY_FILE, then the stored key',
      },
      { term: 'fxrates auth status', text: 'shows which key is used, and which ones it overrides' },
      { term: 'a stored key', text: 'is sent only to the origin that it was stored for' },
      { term: 'http://', text: 'only to this machine, unless --insecure-http; redirects are not followed' },
      { term: 'output, -vv, --curl', text: 'show the first part and the last four characters of a key at most' },
      { term: 'a lost or exposed key', text: 'create a new one in the dashboard, store it, then revoke the old one' },
    ],
  },
  formatting: {
    title: 'output formats, --get, exact digits',
    intro: 'Numbers are printed exactly as received, in every format: 1.10 stays 1.10.',
    entries: [
      ...Object.entries(OUTPUT_FORMATS).map(([name, text]) => ({
        term: name === 'json' ? '-o json, --json' : `-o ${name}`,
        text,
      })),
      {
        term: '--get rates.EUR',
        text: 'one value, text without quotes; repeated: one tab-separated row; with --json it stays JSON',
      },
      { term: '--get /rates/EUR', text: 'the same as a JSON pointer, for names with dots' },
      {
        term: 'one value alone',
        text: 'such as that of config get, config path and auth token: printed as text, with --json as JSON',
      },
    ],
  },
};
