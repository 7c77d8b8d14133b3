import type { IncomingMessage, ServerResponse } from 'node:http';
import { ADMIN_ROOT, PAGE_HEADERS } from '../http/own-paths.ts';

/** Sends the page and the files of the control panel, which contain no secrets. Returns whether the request was for one. */
export async function servePanel(incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<boolean> {
  const { method } = incoming;
  if (method !== 'GET' && method !== 'HEAD') return false;
  const [type, text] = (await findFile(path)) ?? [];
  if (text === undefined) return false;
  outgoing.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'content-security-policy': POLICY,
    ...PAGE_HEADERS,
  });
  outgoing.end(method === 'HEAD' ? '' : text);
  return true;
}

/** Whether a browser asks for a page. */
export function acceptsPage({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '');
}

/** For programs that wait until the base URL responds with 200. */
export function sendReadiness(outgoing: ServerResponse): void {
  const length = Buffer.byteLength(READINESS);
  outgoing.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': length, ...PAGE_HEADERS });
  outgoing.end(READINESS); // node:http omits the body of a response to HEAD
}

const READINESS = `The fxrates mock server is ready. Health: ${ADMIN_ROOT}/health; control panel: ${ADMIN_ROOT}/\n`;

/** Leads a browser to the panel, which asks for the token: a `Location` with it would be in logs. */
export function redirectToPanel(outgoing: ServerResponse): void {
  outgoing.writeHead(307, { location: `${ADMIN_ROOT}/`, 'content-length': '0', ...PAGE_HEADERS }).end();
}

/** The content type and the text of a file. */
async function findFile(path: string): Promise<readonly [string, string] | undefined> {
  if (path === '/') return ['text/html', PANEL_PAGE];
  if (path !== '/panel.js' && path !== '/panel.css') return undefined;
  const { panelFiles } = await import('./panel-files.ts');
  const { script, style } = await panelFiles();
  return path === '/panel.js' ? ['text/javascript', script] : ['text/css', style];
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

const PANEL_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>fxrates mock server</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${ADMIN_ROOT}/panel.css">
<script type="module" src="${ADMIN_ROOT}/panel.js"></script>
</head>
<body>
<div id="app"></div>
<noscript><p class="note">The control panel needs JavaScript; the admin API at ${ADMIN_ROOT}/openapi.json does not.</p></noscript>
</body>
</html>
`;
