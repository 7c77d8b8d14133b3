import type { MockResponse } from '../http/mock-message.ts';
import { BASE_STYLE } from '../web/base-style.ts';
import { html, htmlPage } from '../web/html.ts';
import { PAGE_HEADERS } from '../web/page-security.ts';
import type { Page } from './dashboard-request.ts';

type Headers = Readonly<Record<string, string>>;

/** A whole page of the dashboard. Without a script, and with a policy that lets none run. */
export function writePage(page: Page & { readonly isHead?: boolean }, headers: Headers = {}): MockResponse {
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
export function redirection(to: string, headers: Headers = {}): MockResponse {
  return { status: 303, headers: { location: to, 'content-length': '0', ...PAGE_HEADERS, ...headers }, body: '' };
}

export function styleSheet(style: string, method: string): MockResponse {
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

export const DASHBOARD_STYLE = `${BASE_STYLE}
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
