import type { IncomingMessage, ServerResponse } from 'node:http';
import { ADMIN_ROOT } from '../http/parse-request.ts';
import { PAGE_HEADERS } from '../http/responses.ts';

/** The page and the files of the control panel, which contain no secrets. */
export const PANEL_PATHS: ReadonlySet<string> = new Set(['/', '/panel.js', '/panel.css']);

/** Sends one of them. */
export async function servePanel(incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<void> {
  const [type, text] = await fileAt(path);
  outgoing.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'content-security-policy': POLICY,
    ...PAGE_HEADERS,
  });
  outgoing.end(incoming.method === 'HEAD' ? '' : text);
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
async function fileAt(path: string): Promise<readonly [type: string, text: string]> {
  if (path === '/') return ['text/html', PANEL_PAGE];
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
