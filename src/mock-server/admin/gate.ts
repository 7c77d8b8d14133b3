import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { isSameSecret } from '../web/page-security.ts';
import { Problem } from './problem.ts';

/**
 * Refuses what a name leads here that is not the server's own. With DNS rebinding a foreign name does; an address or
 * `localhost` never does, because nobody else can own those.
 */
export function refuseForeignHost(
  { host = '' }: IncomingHttpHeaders,
  ownName: string | undefined,
): Problem | undefined {
  if (isOwnHost(host, ownName)) return undefined;
  return new Problem('The Host header names neither an address nor this server.', {
    status: 403,
    code: 'foreign_host',
    field: 'Host',
  });
}

/** Refuses what a page of another site could make a browser send. */
export function refuseForeignPage({ host = '', origin }: IncomingHttpHeaders): Problem | undefined {
  if (origin === undefined || origin === `http://${host}`) return undefined;
  return new Problem('Pages of other origins may not use the admin API.', {
    status: 403,
    code: 'foreign_origin',
    field: 'Origin',
  });
}

function isOwnHost(host: string, ownName: string | undefined): boolean {
  const [, bracketed, plain = ''] = /^(?:\[([\da-f:.]+)\]|([^:/@\s]+))(?::\d+)?$/i.exec(host) ?? [];
  const name = bracketed ?? plain.toLowerCase();
  return name === 'localhost' || isIP(name) !== 0 || (name !== '' && name === ownName?.toLowerCase());
}

/** Refuses a request without the admin token. */
export function requireToken({ authorization = '' }: IncomingHttpHeaders, token: string): Problem | undefined {
  const given = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (given !== undefined && isSameSecret(given, token)) return undefined;
  const message = given === undefined ? 'The admin token is missing.' : 'This is not the admin token.';
  return new Problem(`${message} Send it as "Authorization: Bearer …"; the mock shows it when it starts.`, {
    status: 401,
    code: 'admin_token_required',
    field: 'Authorization',
    headers: { 'www-authenticate': 'Bearer realm="fxrates mock admin"' },
  });
}
