import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { Problem } from './problem.ts';

/** The names under which a server may be reached. */
export interface OwnNames {
  /** The option `host` of the server. */
  readonly host: string | undefined;
  /** Whether other machines may reach the server, by the names of a private network. */
  readonly allowRemote: boolean | undefined;
  /** Of the server's own pages. */
  readonly scheme: 'http' | 'https';
}

/**
 * Refuses a request with a foreign Host header, for pages and for routes without a token. With DNS rebinding, a page of
 * another site reaches this server by the name of that site, but not by an IP address, by `localhost`, or by a name
 * that no public domain can have.
 */
export function refuseForeignHost({ host = '' }: IncomingHttpHeaders, names: OwnNames): Problem | undefined {
  if (isOwnHost(host, names)) return undefined;
  const text =
    'The Host header is neither an IP address nor a name of this server; use one of these, or send the admin token.';
  return new Problem(text, { status: 403, code: 'foreign_host', field: 'Host' });
}

/** Refuses requests that a page of another site can cause in a browser. */
export function refuseForeignPage(
  { host = '', origin }: IncomingHttpHeaders,
  { scheme }: OwnNames,
): Problem | undefined {
  if (origin === undefined || origin === `${scheme}://${host}`) return undefined;
  const text = 'Pages of other origins cannot use the admin API; open the control panel of this server.';
  return new Problem(text, { status: 403, code: 'foreign_origin', field: 'Origin' });
}

function isOwnHost(host: string, { host: ownName, allowRemote = false }: OwnNames): boolean {
  const [, bracketed, plain = ''] = /^(?:\[([\da-f:.]+)\]|([^:/@\s]+))(?::\d+)?$/i.exec(host) ?? [];
  const name = bracketed ?? plain.toLowerCase();
  if (name === 'localhost' || isIP(name) !== 0) return true;
  return name !== '' && (name === ownName?.toLowerCase() || (allowRemote && PRIVATE_NAME.test(name)));
}

/** A single word, such as the name of a container, or a name below a reserved top-level domain. Public DNS has neither. */
const PRIVATE_NAME = /^(?:[a-z0-9_-]+|.+\.(?:internal|test|localhost|cluster\.local))$/;

/** Whether the request has the admin token, which no page of another site knows. */
export function hasToken({ authorization = '' }: IncomingHttpHeaders, token: string): boolean {
  const given = tokenIn(authorization);
  // The time does not depend on their lengths or on where they differ.
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function tokenIn(authorization: string): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** The refusal of a request without the admin token. */
export function tokenProblem({ authorization = '' }: IncomingHttpHeaders): Problem {
  const message = tokenIn(authorization) === undefined ? 'The admin token is missing.' : 'This is not the admin token.';
  return new Problem(`${message} Send it as "Authorization: Bearer …"; the mock prints it when it starts.`, {
    status: 401,
    code: 'admin_token_required',
    field: 'Authorization',
    headers: { 'www-authenticate': 'Bearer realm="fxrates mock admin"' },
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
