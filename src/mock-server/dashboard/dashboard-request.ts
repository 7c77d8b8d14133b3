import type { AccountRecord, ServiceContext } from '../service/service-state.ts';
import { type Html, html } from '../web/html.ts';
import type { NewKeys, Session, Sessions } from './session.ts';

/** One request to the dashboard, read. */
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

/** A request of somebody who has signed in. */
export interface AccountRequest extends DashboardRequest {
  readonly account: AccountRecord;
}

export interface Page {
  readonly kind: 'page';
  readonly status: number;
  readonly title: string;
  readonly content: Html;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Redirect {
  readonly kind: 'redirect';
  readonly to: string;
  /** The session from now on; left out, it stays. */
  readonly session?: Session;
}

export type DashboardReply = Page | Redirect;

export function page(title: string, content: Html, status = 200): Page {
  return { kind: 'page', status, title, content };
}

/** After every form a GET (RFC 9110 §15.4.4), so that a reload repeats nothing. */
export function redirect(to: string, session?: Session): Redirect {
  return session === undefined ? { kind: 'redirect', to } : { kind: 'redirect', to, session };
}

/** A form with the token that `dashboard.ts` wants from every one of them. */
export function form({ session }: DashboardRequest, action: string, content: Html): Html {
  return html`<form method="post" action="${action}" autocomplete="off">
<input type="hidden" name="csrf" value="${session.csrfToken}">
${content}
</form>`;
}

/** What went wrong, read out at once by a screen reader. */
export function alert(text: string): Html {
  return html`<p class="note bad" role="alert">${text}</p>`;
}

/** What has just been done. */
export function notice(text: string): Html {
  return html`<p class="note good" role="status">${text}</p>`;
}
