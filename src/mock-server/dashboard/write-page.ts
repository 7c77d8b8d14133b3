import type { MockResponse } from '../http/mock-message.ts';
import { type Html, html } from '../web/html.ts';
import { PAGE_HEADERS } from '../web/page-headers.ts';
import type { Page } from './dashboard-request.ts';

type Headers = Readonly<Record<string, string>>;

/** A whole page of the dashboard. Without a script, and with a policy that lets none run. */
export function writePage(page: Page & { readonly isHead?: boolean }, headers: Headers = {}): MockResponse {
  const isHead = page.isHead === true;
  const body = isHead ? '' : layout(page).text;
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

function layout({ title, content }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Exchange rates</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dashboard/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><a class="brand" href="/dashboard">Exchange rates</a>
<span class="badge">emulated by the fxrates mock server</span></header>
<main id="main">
${content}
</main>
</body>
</html>
`;
}
