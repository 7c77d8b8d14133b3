import type { IncomingMessage, ServerResponse } from 'node:http';
import { operations } from '../../generated/operations.ts';
import { ADMIN_ROOT } from '../admin/route.ts';
import { html } from '../web/html.ts';
import { PAGE_HEADERS } from '../web/page-security.ts';

/** Whether a browser opens the bare address of the server: the service itself has nothing there. */
export function asksForIndexPage({ url, method, headers }: IncomingMessage): boolean {
  return url === '/' && (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '');
}

/** Says what is at this address and leads to the pages of the mock. Holds nothing secret. */
export function answerIndexPage({ method }: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(PAGE),
    'content-security-policy': POLICY,
    ...PAGE_HEADERS,
  });
  outgoing.end(method === 'HEAD' ? '' : PAGE);
}

const POLICY = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

const PAGE = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>fxrates mock server</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${ADMIN_ROOT}/panel.css">
</head>
<body class="index">
<main class="card">
<h1>fxrates mock server</h1>
<p>An emulated exchange-rate API answers here. Its answers are invented.</p>
<ul class="plain">
<li><a href="${ADMIN_ROOT}/">Control panel</a><p class="hint">Requests with the reason for each answer, clock, limits, faults, switches.
Open it with the address that the server printed: that one has the token.</p></li>
<li><a href="/dashboard">Dashboard</a><p class="hint">The emulated dashboard: sign up, make and revoke keys.</p></li>
</ul>
<h2>Endpoints</h2>
<ul class="plain mono">${Object.values(operations).map(({ method, path }) => html`<li>${method} ${path}</li>`)}</ul>
<pre class="block" tabindex="0" aria-label="Example">curl -H "Authorization: Bearer $FXRATES_API_KEY" ${'"$FXRATES_BASE_URL/api/v1/latest?base=EUR"'}</pre>
</main>
</body>
</html>
`.text;
