import { createHmac, randomBytes } from 'node:crypto';
import type { MockResponse } from '../http/mock-message.ts';
import { type CreatedKey, hashOf } from '../service/keys.ts';
import type { AccountRecord, KeyRecord, ServiceContext, ServiceState } from '../service/service-state.ts';
import { type Html, html, htmlPage } from '../web/html.ts';
import { isSameSecret, PAGE_HEADERS } from '../web/page-security.ts';

/** One request to the dashboard, parsed. */
export interface DashboardRequest {
  readonly context: ServiceContext;
  readonly sessions: Sessions;
  readonly newKeys: NewKeys;
  readonly session: Session;
  /** The named parts of the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Fields of the form that was sent; empty for GET. */
  readonly form: URLSearchParams;
}

/** A request of a signed-in user. */
export interface AccountRequest extends DashboardRequest {
  readonly account: AccountRecord;
}

/** A page of the dashboard. It has no scripts, and its policy allows none. */
export function page(title: string, content: Html, status = 200): MockResponse {
  const body = htmlPage({
    title: `${title} · Exchange rates`,
    style: '/dashboard/style.css',
    content: html`<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><a class="brand" href="/dashboard">Exchange rates</a>
<span class="badge">emulated by the fxrates mock server</span></header>
<main id="main">
${content}
</main>`,
  });
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY, ...PAGE_HEADERS };
  return { status, headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) }, body };
}

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Redirects to a GET after a form (RFC 9110 §15.4.4), so that a reload does not send it again. `session` replaces the
 * current one. */
export function redirect(to: string, session?: Session): MockResponse {
  const headers = { location: to, 'content-length': '0', ...PAGE_HEADERS, ...(session && cookieHeader(session)) };
  return { status: 303, headers, body: '' };
}

/** A form with the token that `dashboard.ts` requires. */
export function form({ session }: DashboardRequest, action: string, content: Html): Html {
  return html`<form method="post" action="${action}" autocomplete="off">
<input type="hidden" name="csrf" value="${session.csrfToken}">
${content}
</form>`;
}

/** An error message, which a screen reader reads immediately. */
export function alert(text: string): Html {
  return html`<p class="note bad" role="alert">${text}</p>`;
}

/** A session of the dashboard. The signed cookie contains all of it, so the mock stores no sessions. */
export interface Session {
  /** Value of the cookie. */
  readonly cookie: string;
  /** `undefined` for a user who is not signed in. */
  readonly account: AccountRecord | undefined;
  /** Part of every form. Another site can neither read nor guess it. */
  readonly csrfToken: string;
}

const SESSION_COOKIE = 'fxrates_session';

export function cookieHeader({ cookie }: Session): Readonly<Record<string, string>> {
  // Not `Secure`, because the mock usually uses plain http on loopback.
  return { 'set-cookie': `${SESSION_COOKIE}=${cookie}; Path=/dashboard; HttpOnly; SameSite=Lax` };
}

/** Opens and reads the sessions of one mock. */
export class Sessions {
  /** From the system, not from the seed: a cookie cannot be signed with the seed alone. */
  readonly #secret = randomBytes(32);

  /** A new session with each sign-in, which prevents session fixation. */
  open(account?: AccountRecord): Session {
    return this.#session(randomBytes(12).toString('hex'), account);
  }

  /** The session in a `Cookie` header; `undefined` if it is missing or forged, or its account does not exist. */
  read(cookieHeader: string | undefined, state: ServiceState): Session | undefined {
    const cookie = cookieValue(cookieHeader);
    const [, nonce, accountId] = /^([0-9a-f]{24})\.(\w*)\.\w+$/.exec(cookie) ?? [];
    if (nonce === undefined || accountId === undefined) return undefined;
    const account = state.accounts.get(accountId);
    if (accountId !== '' && account === undefined) return undefined;
    const session = this.#session(nonce, account);
    return isSameSecret(cookie, session.cookie) ? session : undefined;
  }

  #session(nonce: string, account: AccountRecord | undefined): Session {
    // The address too: after a reset, the same id belongs to another account.
    const signature = this.#sign(`session ${nonce} ${account?.id} ${account?.email}`);
    const cookie = `${nonce}.${account?.id ?? ''}.${signature}`;
    return { cookie, account, csrfToken: this.#sign(`csrf ${cookie}`) };
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('hex');
  }
}

function cookieValue(header = ''): string {
  const pairs = header.split(/[;,]/).map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))?.slice(SESSION_COOKIE.length + 1) ?? '';
}

/** Keys that were created and not shown yet, between the form and the page after it. */
export class NewKeys {
  readonly #secrets = new Map<string, string>();

  add({ id, key }: CreatedKey): void {
    this.#secrets.set(id, key);
    const [oldest] = this.#secrets.keys();
    if (this.#secrets.size > MOST && oldest !== undefined) this.#secrets.delete(oldest);
  }

  /** The full key, at the first call only. */
  take({ id, hash }: KeyRecord): string | undefined {
    const secret = this.#secrets.get(id);
    this.#secrets.delete(id);
    // After a reset the id belongs to another key.
    return secret !== undefined && hashOf(secret) === hash ? secret : undefined;
  }
}

/** A browser shows a key immediately. Older ones are dropped: their pages were not opened. */
const MOST = 100;
