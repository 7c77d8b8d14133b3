import type { MockRequest, MockResponse } from '../http/mock-message.ts';
import { parseTarget, type Target } from '../http/router.ts';
import type { ServiceHandler } from '../http/service-handler.ts';
import { dateHeader } from '../http/service-response.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { BASE_STYLE } from '../web/base-style.ts';
import { findRoute } from '../web/find-route.ts';
import { html, htmlPage } from '../web/html.ts';
import { isSameSecret, PAGE_HEADERS } from '../web/page-security.ts';
import * as actions from './actions.ts';
import {
  type AccountRequest,
  type DashboardReply,
  type DashboardRequest,
  NewKeys,
  type Page,
  redirect,
  SESSION_COOKIE,
  type Session,
  Sessions,
} from './dashboard-request.ts';
import { messagePage } from './visitor-pages.ts';

/** The emulated dashboard: answers `/dashboard` and what is under it; `undefined` for every other path. */
export type Dashboard = (request: MockRequest) => MockResponse | undefined;

/** Never counted, never in the journal: the limits of the service are those of its API. */
export function createDashboard(context: ServiceContext): Dashboard {
  const dashboard = { context, sessions: new Sessions(), newKeys: new NewKeys() };
  return (request) => {
    if (!request.target.includes('/dashboard')) return undefined;
    const target = parseTarget(request.target);
    if (!isDashboardPath(target.path)) return undefined;
    const response = respond(dashboard, request, target);
    return { ...response, headers: { date: dateHeader(context.now()), ...response.headers } };
  };
}

type DashboardContext = Pick<DashboardRequest, 'context' | 'sessions' | 'newKeys'>;

function respond(dashboard: DashboardContext, request: MockRequest, target: Target): MockResponse {
  if (target.path === '/dashboard/style.css') return styleSheet(DASHBOARD_STYLE, request.method);
  // HEAD does nothing: a link is not followed and a key not shown by a look at the headers.
  if (request.method === 'HEAD' && findRoute(dashboardRoutes, 'GET', target.path).route !== undefined)
    return writePage(EMPTY);
  const known = dashboard.sessions.read(request.headers['cookie'], dashboard.context.state);
  const session = known ?? dashboard.sessions.open();
  const reply = answer(dashboard, request, { target, session });
  const next = reply.kind === 'redirect' ? (reply.session ?? session) : session;
  const cookie = next === known ? {} : { 'set-cookie': cookieOf(next) };
  return reply.kind === 'redirect' ? redirection(reply.to, cookie) : writePage(reply, cookie);
}

function answer(
  dashboard: DashboardContext,
  request: MockRequest,
  { target, session }: { readonly target: Target; readonly session: Session },
): DashboardReply {
  if (target.path === '/dashboard/') return redirect('/dashboard');
  const { route, path, allowed } = findRoute(dashboardRoutes, request.method, target.path);
  if (route === undefined) return allowed.length === 0 ? NOT_FOUND : notAllowed(allowed);
  const form = new URLSearchParams(route.method === 'POST' ? Buffer.from(request.body ?? []).toString() : '');
  const refusal = route.method === 'POST' ? refuseForm(request, form, session) : undefined;
  if (refusal !== undefined) return refusal;
  return route.answer({ ...dashboard, session, path, query: new URLSearchParams(target.query), form });
}

/** What cannot be a form of ours: too long, of another kind, or without the token of this session. */
function refuseForm({ headers, body }: MockRequest, form: URLSearchParams, session: Session): Page | undefined {
  if ((body?.byteLength ?? 0) > MAX_FORM_BYTES) return TOO_LARGE;
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return NO_FORM;
  if (!isSameOrigin(headers) || !isSameSecret(form.get('csrf') ?? '', session.csrfToken)) return STRANGE_FORM;
  return undefined;
}

/** A second look beside the token: a browser says where a form comes from. */
function isSameOrigin({ origin, host }: MockRequest['headers']): boolean {
  if (origin === undefined || host === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

function cookieOf({ cookie }: Session): string {
  // Not `Secure`: the mock is on loopback, and most often on plain http.
  return `${SESSION_COOKIE}=${cookie}; Path=/dashboard; HttpOnly; SameSite=Lax`;
}

function notAllowed(allowed: readonly string[]): Page {
  const methods = allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const text = 'This page of the dashboard does not accept this method.';
  const refusal = messagePage({ status: 405, title: 'Not allowed', text });
  return { ...refusal, headers: { allow: methods.join(', ') } };
}

const MAX_FORM_BYTES = 8 * 1024;

const EMPTY = { ...messagePage({ status: 200, title: '', text: '' }), isHead: true };
const NOT_FOUND = messagePage({ status: 404, title: 'Nothing here', text: 'There is no such page in the dashboard.' });
const TOO_LARGE = messagePage({ status: 413, title: 'Too large', text: 'The form is larger than 8 KiB.' });
const NO_FORM = messagePage({
  status: 415,
  title: 'No form',
  text: 'The dashboard accepts only the forms of its own pages.',
});
const STRANGE_FORM = messagePage({
  status: 403,
  title: 'This form is no longer valid',
  text: 'You signed in or out after you opened it, or another site sent it. Nothing was changed; please try again.',
});

interface DashboardRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly answer: (request: DashboardRequest) => DashboardReply;
}

export const dashboardRoutes: readonly DashboardRoute[] = [
  { method: 'GET', path: '/dashboard', answer: actions.home },
  { method: 'POST', path: '/dashboard/sign-up', answer: actions.signUp },
  { method: 'POST', path: '/dashboard/sign-in', answer: actions.signIn },
  { method: 'POST', path: '/dashboard/sign-out', answer: actions.signOut },
  { method: 'GET', path: '/dashboard/confirm', answer: actions.confirmEmail },
  { method: 'GET', path: '/dashboard/check-email', answer: signedIn(actions.checkMail) },
  { method: 'POST', path: '/dashboard/send-again', answer: signedIn(actions.sendAgain) },
  { method: 'POST', path: '/dashboard/keys', answer: signedIn(actions.createKey) },
  { method: 'GET', path: '/dashboard/keys/{id}', answer: signedIn(actions.showKey) },
  { method: 'POST', path: '/dashboard/keys/{id}/revoke', answer: signedIn(actions.revokeKey) },
  { method: 'POST', path: '/dashboard/plan', answer: signedIn(actions.changePlan) },
];

/** Visitors without an account are led to the sign-up. */
function signedIn(answer: (request: AccountRequest) => DashboardReply): (request: DashboardRequest) => DashboardReply {
  return (request) => {
    const { account } = request.session;
    return account === undefined ? redirect('/dashboard') : answer({ ...request, account });
  };
}

/** The emulated service together with its dashboard, under one address. */
export function withDashboard(service: ServiceHandler, context: ServiceContext): ServiceHandler {
  const dashboard = createDashboard(context);
  return (request) => {
    const response = dashboard(request);
    return response === undefined ? service(request) : { response, entry: undefined };
  };
}

/** Whether a path belongs to the emulated dashboard. */
export function isDashboardPath(path: string): boolean {
  return /^\/dashboard(?:\/|$)/.test(path);
}

type Headers = Readonly<Record<string, string>>;

/** A whole page of the dashboard. Without a script, and with a policy that lets none run. */
function writePage(page: Page & { readonly isHead?: boolean }, headers: Headers = {}): MockResponse {
  const isHead = page.isHead === true;
  const body = isHead ? '' : layout(page);
  const length: Headers = isHead ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return {
    status: page.status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      ...PAGE_HEADERS,
      ...length,
      ...page.headers,
      ...headers,
    },
    body,
  };
}

/** 303: whatever was sent, the next request is a GET. */
function redirection(to: string, headers: Headers = {}): MockResponse {
  return { status: 303, headers: { location: to, 'content-length': '0', ...PAGE_HEADERS, ...headers }, body: '' };
}

function styleSheet(style: string, method: string): MockResponse {
  const headers = { 'content-type': 'text/css; charset=utf-8', 'content-length': String(Buffer.byteLength(style)) };
  return { status: 200, headers: { ...headers, ...PAGE_HEADERS }, body: method === 'HEAD' ? '' : style };
}

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

function layout({ title, content }: Page): string {
  return htmlPage({
    title: `${title} · Exchange rates`,
    style: '/dashboard/style.css',
    content: html`<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><a class="brand" href="/dashboard">Exchange rates</a>
<span class="badge">emulated by the fxrates mock server</span></header>
<main id="main">
${content}
</main>`,
  });
}

const DASHBOARD_STYLE = `${BASE_STYLE}
main { max-width: 48rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; display: grid; gap: 1.25rem; }
form { display: grid; gap: 0.875rem; justify-items: start; }
.field { width: 100%; }
.row > div:first-child { flex: 1 1 12rem; min-width: 0; }
.lead { color: var(--soft); font-size: 1.0625rem; margin-top: -0.75rem; }
.columns { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16rem), 1fr)); }
.columns > .card { align-content: start; }
.narrow { max-width: 34rem; }
.note > form { margin-top: 0.75rem; }
.keys { list-style: none; margin: 0; padding: 0; display: grid; gap: 0.75rem; }
.key { border: 1px solid var(--line); border-radius: 10px; padding: 0.875rem 1rem; display: grid; gap: 0.625rem; }
.key.over { background: var(--page); }
.meter { display: grid; gap: 0.25rem; font-size: 0.9375rem; font-variant-numeric: tabular-nums; }
progress { appearance: none; width: 100%; height: 0.5rem; border: 0; border-radius: 99px; background: var(--track); }
progress { overflow: hidden; color: var(--accent); }
progress::-webkit-progress-bar { background: var(--track); }
progress::-webkit-progress-value { background: var(--accent); border-radius: 99px; }
progress::-moz-progress-bar { background: var(--accent); }
details > summary { cursor: pointer; color: var(--bad); font-weight: 600; font-size: 0.9375rem; width: fit-content; }
details form { margin-top: 0.75rem; }
details[open] > p { margin-top: 0.5rem; }
.secret { width: 100%; background: var(--page); }
@media (max-width: 30rem) {
  .card { padding: 1rem; }
  .bar { padding: 0.625rem 1.25rem; }
}
`;
