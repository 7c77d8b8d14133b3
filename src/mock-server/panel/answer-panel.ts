import type { IncomingMessage, ServerResponse } from 'node:http';
import { ADMIN_ROOT } from '../admin/route.ts';
import { html } from '../web/html.ts';
import { PAGE_HEADERS } from '../web/page-security.ts';

/** Answers the pages and files of the control panel; says whether the request was for one. None holds anything secret. */
export async function answerPanel(incoming: IncomingMessage, outgoing: ServerResponse, path: string): Promise<boolean> {
  if (incoming.method !== 'GET' && incoming.method !== 'HEAD') return false;
  const file = await findFile(incoming, path);
  if (file === undefined) return false;
  const { type, text } = file;
  outgoing.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'content-security-policy': POLICY,
    ...PAGE_HEADERS,
  });
  outgoing.end(incoming.method === 'HEAD' ? '' : text);
  return true;
}

interface File {
  readonly type: string;
  readonly text: string;
}

async function findFile({ headers }: IncomingMessage, path: string): Promise<File | undefined> {
  // A browser that opens the address wants the page, a caller with the token the outbox itself.
  const isVisit = headers.authorization === undefined && /\btext\/html\b/.test(headers.accept ?? '');
  if (path === '/' || (path === '/outbox' && isVisit)) return { type: 'text/html', text: PAGE };
  if (path !== '/panel.js' && path !== '/panel.css') return undefined;
  const { panelFiles } = await import('./panel-files.ts');
  const { script, style } = await panelFiles();
  return path === '/panel.js' ? { type: 'text/javascript', text: script } : { type: 'text/css', text: style };
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = html`<!doctype html>
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
<noscript><p class="note">The control panel needs JavaScript; the admin API at ${ADMIN_ROOT}/openapi.json does not.</p>
</noscript>
</body>
</html>
`.text;
