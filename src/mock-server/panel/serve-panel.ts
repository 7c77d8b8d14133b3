import type { IncomingMessage, ServerResponse } from 'node:http';
import { operations } from '../../generated/operations.ts';
import { html, htmlPage } from '../web/html.ts';
import { ADMIN_ROOT } from '../web/own-pages.ts';
import { PAGE_HEADERS } from '../web/page-security.ts';

/** Sends the pages and files of the control panel, which contain no secrets. Returns whether the request was for one. */
export async function servePanel(incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<boolean> {
  const { method } = incoming;
  if (method !== 'GET' && method !== 'HEAD') return false;
  const file = await findFile(incoming, path);
  if (file !== undefined) sendFile(file, method, outgoing);
  return file !== undefined;
}

/** Whether a browser opens `/`, for which the service has no response. */
export function wantsIndexPage({ url, method, headers }: IncomingMessage): boolean {
  return url === '/' && (method === 'GET' || method === 'HEAD') && acceptsHtml(headers);
}

/** Sends the index page with links to the pages of the mock. It contains no secrets. */
export function serveIndexPage({ method }: IncomingMessage, outgoing: ServerResponse): void {
  sendFile({ type: 'text/html', text: INDEX_PAGE, policy: INDEX_POLICY }, method, outgoing);
}

interface File {
  readonly type: string;
  readonly text: string;
  /** Default: that of the panel. */
  readonly policy?: string;
}

async function findFile({ headers }: IncomingMessage, path: string): Promise<File | undefined> {
  // The page for a browser that opens the address; the outbox itself for a caller with the token.
  const isNavigation = headers.authorization === undefined && acceptsHtml(headers);
  if (path === '/' || (path === '/outbox' && isNavigation)) return { type: 'text/html', text: PANEL_PAGE };
  if (path !== '/panel.js' && path !== '/panel.css') return undefined;
  const { panelFiles } = await import('./panel-files.ts');
  const { script, style } = await panelFiles();
  return path === '/panel.js' ? { type: 'text/javascript', text: script } : { type: 'text/css', text: style };
}

function acceptsHtml({ accept = '' }: IncomingMessage['headers']): boolean {
  return /\btext\/html\b/.test(accept);
}

function sendFile(
  { type, text, policy = PANEL_POLICY }: File,
  method: string | undefined,
  outgoing: ServerResponse,
): void {
  outgoing.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'content-security-policy': policy,
    ...PAGE_HEADERS,
  });
  outgoing.end(method === 'HEAD' ? '' : text);
}

const REST = "img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
const PANEL_POLICY = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; ${REST}`;
/** The index page has no script. */
const INDEX_POLICY = `default-src 'none'; style-src 'self'; ${REST}`;

const SHARED = { title: 'fxrates mock server', style: `${ADMIN_ROOT}/panel.css` };

const PANEL_PAGE = htmlPage({
  ...SHARED,
  head: html`<script type="module" src="${ADMIN_ROOT}/panel.js"></script>`,
  content: html`<div id="app"></div>
<noscript><p class="note">The control panel needs JavaScript; the admin API at ${ADMIN_ROOT}/openapi.json does not.</p>
</noscript>`,
});

const INDEX_PAGE = htmlPage({
  ...SHARED,
  content: html`<main class="card index">
<h1>fxrates mock server</h1>
<p>This server emulates an exchange-rate API. Its rates are invented.</p>
<ul class="plain">
<li><a href="${ADMIN_ROOT}/">Control panel</a><p class="hint">Requests with the reason for each response, clock, limits, faults, switches.
Open it with the address that the server printed; that address contains the token.</p></li>
<li><a href="/dashboard">Dashboard</a><p class="hint">The emulated dashboard: sign up, create and revoke keys.</p></li>
</ul>
<h2>Endpoints</h2>
<ul class="plain mono">${Object.values(operations).map(({ method, path }) => html`<li>${method} ${path}</li>`)}</ul>
<pre class="block" tabindex="0" aria-label="Example">curl -H "Authorization: Bearer $FXRATES_API_KEY" ${'"$FXRATES_BASE_URL/api/v1/latest?base=EUR"'}</pre>
</main>`,
});
