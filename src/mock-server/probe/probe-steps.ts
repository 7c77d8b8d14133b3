import { switches } from '../behaviour/switches.ts';
import type { Findings, ProbeStep, Probing } from './probe-report.ts';
import { type Seen, statusAndCodeText } from './prober.ts';
import { observeQuotaUse } from './quota-steps.ts';

/** What is asked after the first `quota`, the most telling first: a small budget ends somewhere in it. */
export const PROBE_STEPS: readonly ProbeStep[] = [
  { requests: 1, charged: 0, run: askWithoutKey },
  { requests: 1, charged: 0, run: askWithMalformedKey },
  { requests: 1, charged: 0, run: askWithUnknownKey },
  { requests: 1, charged: 0, run: askNowhere },
  { requests: 2, charged: 1, run: observeQuotaUse },
  { requests: 2, charged: 0, run: askInOtherForms },
  { requests: 2, charged: 0, run: askWithTwoKeys },
  { requests: 1, charged: 0, run: askWithPost },
  { requests: 1, charged: 0, run: askWithHead },
  { requests: 1, charged: 0, run: askWithOptions },
];

const MALFORMED_KEY = 'not-a-key';

async function askWithoutKey({ prober, findings }: Probing): Promise<void> {
  const seen = await prober.ask('quota');
  observeRefusal(findings, 'missingKey', seen);
  observeChallenge(findings, seen);
}

async function askWithMalformedKey({ prober, findings }: Probing): Promise<void> {
  const seen = await prober.ask('quota', { authorization: `Bearer ${MALFORMED_KEY}` });
  observeRefusal(findings, 'malformedKey', seen);
  observeChallenge(findings, seen);
}

async function askWithUnknownKey({ prober, findings, key }: Probing): Promise<void> {
  const [prefix] = /^.*_live_/.exec(key) ?? [];
  if (prefix === undefined) return findings.leaveOpen('unknownKey', 'the key in use has not the documented form');
  // Nobody is given this one: 192 bits of zeros.
  const seen = await prober.ask('quota', { authorization: `Bearer ${prefix}${'0'.repeat(48)}` });
  observeRefusal(findings, 'unknownKey', seen);
  observeChallenge(findings, seen);
}

function observeRefusal(findings: Findings, name: 'missingKey' | 'malformedKey' | 'unknownKey', seen: Seen): void {
  const value = statusAndCodeText(seen);
  if (switches[name].accepts(value)) findings.observe(name, value);
  else findings.leaveOpen(name, `the answer was ${value}, which the mock does not have`);
}

/** RFC 9110 §11.6.1: only a 401 carries a challenge. */
function observeChallenge(findings: Findings, { status, headers }: Seen): void {
  if (status !== 401) return;
  const challenge = headers.get('www-authenticate');
  if (challenge === null) findings.observe('wwwAuthenticate', 'absent');
  else if (/^bearer\b/i.test(challenge)) findings.observe('wwwAuthenticate', 'bearer');
  else findings.leaveOpen('wwwAuthenticate', 'the challenge names another scheme than Bearer');
}

async function askNowhere({ prober, findings }: Probing): Promise<void> {
  const seen = await prober.ask('fxrates-probe');
  if (seen.status === 404) findings.observe('unknownRoute', '404 before authentication');
  else if (isAuthenticationFailure(seen)) findings.observe('unknownRoute', '404 after authentication');
  else findings.leaveOpen('unknownRoute', `the answer was ${seen.status}`);
}

/** Both forms are documented; that they work is no switch. */
async function askInOtherForms({ prober, findings, key }: Probing): Promise<void> {
  const bare = await prober.ask('quota', { authorization: key });
  if (bare.status !== 200)
    findings.contradict(`the bare key in the Authorization header was answered with ${bare.status}`);
  const query = await prober.ask('quota', { query: { api_key: key } });
  if (query.status !== 200) findings.contradict(`the key in the query was answered with ${query.status}`);
}

async function askWithTwoKeys({ prober, findings, key }: Probing): Promise<void> {
  const goodHeader = await prober.ask('quota', { authorization: `Bearer ${key}`, query: { api_key: MALFORMED_KEY } });
  if (goodHeader.status === 200) return findings.observe('severalCredentials', 'header');
  const goodQuery = await prober.ask('quota', { authorization: `Bearer ${MALFORMED_KEY}`, query: { api_key: key } });
  if (goodQuery.status === 200) findings.observe('severalCredentials', 'query');
  else if (isAuthenticationFailure(goodQuery)) findings.observe('severalCredentials', 'refused');
  else findings.leaveOpen('severalCredentials', `the answer was ${goodQuery.status}`);
}

function isAuthenticationFailure({ status }: Seen): boolean {
  return status === 400 || status === 401 || status === 403;
}

function askWith({ prober, key }: Probing, method: 'POST' | 'HEAD' | 'OPTIONS'): Promise<Seen> {
  return prober.ask('quota', {
    method,
    authorization: `Bearer ${key}`,
    ...(method === 'HEAD' ? { origin: PAGE } : {}),
  });
}

/** The origin of a page that no service knows. */
const PAGE = 'https://fxrates-probe.test';

function observeCors(findings: Findings, headers: Seen['headers']): void {
  const allowed = headers.get('access-control-allow-origin');
  if (allowed === null) findings.observe('cors', 'absent');
  else if (allowed === '*' || allowed === PAGE) findings.observe('cors', 'any-origin');
  else findings.leaveOpen('cors', `pages of ${allowed} are allowed`);
}

async function askWithPost(probing: Probing): Promise<void> {
  const value = statusAndCodeText(await askWith(probing, 'POST'));
  if (switches.methodNotAllowed.accepts(value)) probing.findings.observe('methodNotAllowed', value);
  else probing.findings.leaveOpen('methodNotAllowed', `the answer to POST was ${value}`);
}

async function askWithHead(probing: Probing): Promise<void> {
  const { status, headers } = await askWith(probing, 'HEAD');
  observeCors(probing.findings, headers);
  if (status === 200) probing.findings.observe('headRequests', 'like-get');
  else if (isMethodRefusal(status)) probing.findings.observe('headRequests', 'refused');
  else probing.findings.leaveOpen('headRequests', `the answer was ${status}`);
}

async function askWithOptions(probing: Probing): Promise<void> {
  const { status, headers } = await askWith(probing, 'OPTIONS');
  if (status === 204 && headers.has('allow')) probing.findings.observe('optionsRequests', 'allow-header');
  else if (isMethodRefusal(status)) probing.findings.observe('optionsRequests', 'refused');
  else probing.findings.leaveOpen('optionsRequests', `the answer was ${status}`);
}

function isMethodRefusal(status: number): boolean {
  return status === 404 || status === 405;
}
