import type { MockRequest, MockResponse } from '../http/mock-message.ts';
import { parseTarget, type Target } from '../http/router.ts';
import type { ServiceHandler } from '../http/service-handler.ts';
import { dateHeader } from '../http/service-response.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { findRoute } from '../web/find-route.ts';
import { html } from '../web/html.ts';
import { isDashboardPath } from '../web/own-pages.ts';
import { isSameSecret, PAGE_HEADERS } from '../web/page-security.ts';
import { DASHBOARD_STYLE } from '../web/styles.ts';
import * as actions from './actions.ts';
import {
  type AccountRequest,
  cookieHeader,
  type DashboardRequest,
  NewKeys,
  page,
  redirect,
  type Session,
  Sessions,
} from './dashboard-request.ts';
import { messagePage } from './signed-out-pages.ts';

/**
 * The emulated service, with its dashboard at `/dashboard` and below. Requests to the dashboard are neither counted nor
 * recorded, because the limits of the service apply to its API only.
 */
export function withDashboard(service: ServiceHandler, context: ServiceContext): ServiceHandler {
  const dashboard = { context, sessions: new Sessions(), newKeys: new NewKeys() };
  return (request) => {
    if (!request.target.includes('/dashboard')) return service(request);
    const target = parseTarget(request.target);
    if (!isDashboardPath(target.path)) return service(request);
    const { headers, ...response } = respond(dashboard, request, target);
    return { response: { ...response, headers: { date: dateHeader(context.now()), ...headers } }, entry: undefined };
  };
}

type DashboardContext = Pick<DashboardRequest, 'context' | 'sessions' | 'newKeys'>;

function respond(dashboard: DashboardContext, request: MockRequest, target: Target): MockResponse {
  if (target.path === '/dashboard/style.css') return styleSheet(DASHBOARD_STYLE, request.method);
  // HEAD has no effect: it neither follows a confirmation link nor shows a key.
  if (request.method === 'HEAD' && findRoute(dashboardRoutes, 'GET', target.path).route !== undefined) return HEAD;
  const known = dashboard.sessions.read(request.headers['cookie'], dashboard.context.state);
  const session = known ?? dashboard.sessions.open();
  const response = runRoute(dashboard, request, { target, session });
  // A redirect that signs in or out has a cookie of its own.
  return known === undefined ? { ...response, headers: { ...cookieHeader(session), ...response.headers } } : response;
}

function runRoute(
  dashboard: DashboardContext,
  request: MockRequest,
  { target, session }: { readonly target: Target; readonly session: Session },
): MockResponse {
  if (target.path === '/dashboard/') return redirect('/dashboard');
  const { route, path, allowed } = findRoute(dashboardRoutes, request.method, target.path);
  if (route === undefined) return allowed.length === 0 ? NOT_FOUND : notAllowed(allowed);
  const form = new URLSearchParams(route.method === 'POST' ? Buffer.from(request.body ?? []).toString() : '');
  const refusal = route.method === 'POST' ? refuseForm(request, form, session) : undefined;
  if (refusal !== undefined) return refusal;
  return route.handle({ ...dashboard, session, path, query: new URLSearchParams(target.query), form });
}

/** Refuses a form that is too long, of another type, or without the token of this session. */
function refuseForm({ headers, body }: MockRequest, form: URLSearchParams, session: Session): MockResponse | undefined {
  if ((body?.byteLength ?? 0) > MAX_FORM_BYTES) return TOO_LARGE;
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return NO_FORM;
  if (!isSameOrigin(headers) || !isSameSecret(form.get('csrf') ?? '', session.csrfToken)) return STRANGE_FORM;
  return undefined;
}

/** In addition to the token: a browser sends the origin of a form. */
function isSameOrigin({ origin, host }: MockRequest['headers']): boolean {
  if (origin === undefined || host === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

function notAllowed(allowed: readonly string[]): MockResponse {
  const text = 'This page of the dashboard does not accept this method.';
  const refusal = messagePage({ status: 405, title: 'Not allowed', text });
  return { ...refusal, headers: { ...refusal.headers, allow: allowed.join(', ') } };
}

const MAX_FORM_BYTES = 8 * 1024;

const { 'content-length': _, ...PAGE_HEAD } = page('', html``).headers;
const HEAD: MockResponse = { status: 200, headers: PAGE_HEAD, body: '' };
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
  readonly handle: (request: DashboardRequest) => MockResponse;
}

const dashboardRoutes: readonly DashboardRoute[] = [
  { method: 'GET', path: '/dashboard', handle: actions.home },
  { method: 'POST', path: '/dashboard/sign-up', handle: actions.signUp },
  { method: 'POST', path: '/dashboard/sign-in', handle: actions.signIn },
  { method: 'POST', path: '/dashboard/sign-out', handle: actions.signOut },
  { method: 'GET', path: '/dashboard/confirm', handle: actions.confirmEmail },
  { method: 'GET', path: '/dashboard/check-email', handle: signedIn(actions.checkMail) },
  { method: 'POST', path: '/dashboard/send-again', handle: signedIn(actions.sendAgain) },
  { method: 'POST', path: '/dashboard/keys', handle: signedIn(actions.createKey) },
  { method: 'GET', path: '/dashboard/keys/{id}', handle: signedIn(actions.showKey) },
  { method: 'POST', path: '/dashboard/keys/{id}/revoke', handle: signedIn(actions.revokeKey) },
  { method: 'POST', path: '/dashboard/plan', handle: signedIn(actions.changePlan) },
];

/** Redirects users who are not signed in to the sign-up. */
function signedIn(handle: (request: AccountRequest) => MockResponse): (request: DashboardRequest) => MockResponse {
  return (request) => {
    const { account } = request.session;
    return account === undefined ? redirect('/dashboard') : handle({ ...request, account });
  };
}

function styleSheet(style: string, method: string): MockResponse {
  const headers = { 'content-type': 'text/css; charset=utf-8', 'content-length': String(Buffer.byteLength(style)) };
  return { status: 200, headers: { ...headers, ...PAGE_HEADERS }, body: method === 'HEAD' ? '' : style };
}
