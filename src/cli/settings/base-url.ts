import { isLoopback } from '../../environment-proxy.ts';
import { operations } from '../../generated/operations.ts';
import { apiPathIn, type BaseUrlProblem, baseUrlProblem } from '../../operation.ts';
import { holdsKey } from '../../redactor.ts';
import { withoutCredentials } from '../../text.ts';
import { CliError, loginLine, usageError } from '../errors/cli-error.ts';

/** A text, and the option or variable that it was read from. */
export interface SourcedText {
  readonly text: string;
  readonly source: string;
}

interface BaseUrlSettings {
  readonly baseUrl: SourcedText | undefined;
  readonly insecureHttp: boolean;
  readonly profile: string;
}

/** The base URL to use, checked. @throws CliError when there is none, or when the key must not travel to it. */
export function requireBaseUrl(
  { baseUrl, insecureHttp, profile }: BaseUrlSettings,
  typedAs = '--base-url https://…',
): string {
  if (baseUrl === undefined) throw noBaseUrl(profile, typedAs);
  checkBaseUrl(baseUrl, { insecureHttp });
  return baseUrl.text;
}

/** @throws CliError for what cannot be a base URL. Plain http is checked only when a key is to be sent. */
export function checkBaseUrl({ text, source }: SourcedText, { insecureHttp } = { insecureHttp: true }): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem = url && baseUrlProblem(url, { operations: OPERATIONS, allowInsecureHttp: insecureHttp });
  if (url === undefined || problem === 'scheme') {
    throw usageError(`${source} expects an http or https URL, got '${withoutCredentials(text)}'`, undefined, [
      `e.g. ${withScheme(text) ?? 'https://api.example.test'}`,
    ]);
  }
  if (holdsKey(text) || /key|token|secret/i.test(url.search)) {
    throw usageError(`${source} contains a key`, 'URLs end up in logs', KEY_HINTS);
  }
  if (problem !== undefined) throw PROBLEMS[problem]({ text, source }, url);
}

const OPERATIONS = Object.values(operations);

type Explain = (given: SourcedText, url: URL) => CliError;

const PROBLEMS: Readonly<Record<Exclude<BaseUrlProblem, 'scheme'>, Explain>> = {
  credentials: ({ source }) =>
    usageError(`${source} contains a user name or a password`, 'the service accepts only API keys', KEY_HINTS),
  query: ({ source }) =>
    usageError(`${source} contains a query or a fragment`, 'parameters are written name=value after the command'),
  path: ({ source, text }, { pathname }) => {
    const added = apiPathIn(pathname, OPERATIONS) ?? '';
    const shorter = text.replace(/\/+$/, '').slice(0, -added.length);
    return usageError(`${source} ends with ${added}`, 'fxrates adds this path', [`--base-url ${shorter}`]);
  },
  'plain http': (_, { host }) =>
    usageError(`refusing to send the key to http://${host}`, 'plain http is not encrypted', [
      `Use https://${host}, or if the network is trusted --insecure-http or FXRATES_INSECURE_HTTP=1`,
    ]),
};

/** A URL for a text such as `localhost:4010` and `https//host`; `undefined` if it is not valid. */
function withScheme(text: string): string | undefined {
  const rest = text.replace(/^\w*(?::\/+|\/\/)\s*/, '');
  if (!/^[\w.-]+(:\d+)?(\/|$)/.test(rest) || !URL.canParse(`https://${rest}`)) return undefined;
  return `${isLoopback(new URL(`https://${rest}`)) ? 'http' : 'https'}://${rest}`;
}

const KEY_HINTS = ['Pass the key with FXRATES_API_KEY, --key-file or --key-stdin.', 'Store it:  fxrates auth login'];

function noBaseUrl(profile: string, typedAs: string): CliError {
  return new CliError(profile === 'default' ? 'no base URL' : `no base URL in profile ${profile}`, {
    code: 'no_base_url',
    why: 'the host of the service is not documented, so there is no default',
    hints: [
      `Set it:      export FXRATES_BASE_URL=https://…   or   ${typedAs}`,
      `Store it:    ${loginLine(profile, 'https://…')}`,
      'No account?  fxrates mock   (a local server with invented rates)',
    ],
  });
}
