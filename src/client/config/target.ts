import type { CallOptions } from '../api-call.ts';
import { describeValue } from '../errors/describe-value.ts';
import { ConfigError } from '../errors/errors.ts';
import { namesOf, refuse } from './checks.ts';

/** One value of a query parameter; a list is sent as repeated names. */
export type QueryValue = string | number | boolean | readonly (string | number | boolean)[] | undefined;

/** Path and query as they are sent. The key has no place here (SERVICE.md, Authentication, rule 3). */
export function buildTarget(path: string, query: Readonly<Record<string, unknown>> | undefined): string {
  if (query === undefined) return path;
  requirePlainObject(query);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    refuseKeyParameter(name);
    refuseCallOption(name);
    for (const item of itemsOf(value)) search.append(name, textOf(name, item));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

/** A path for `get`. @throws ConfigError for what would leave the service or carry a query of its own. */
export function checkPath(path: unknown): string {
  const isPath = typeof path === 'string' && /^\/(?!\/)[^?#\\\s\p{Cc}]*$/u.test(path) && !hasDotSegment(path);
  if (isPath) return new URL(path, 'http://localhost').pathname; // percent-encodes what a request line cannot carry
  throw new ConfigError(
    `path: expected one such as '/api/v1/latest', without host, query or '..', got ${describeValue(path)}; parameters go into { query }`,
  );
}

/**
 * Whether a server, or a proxy before it, could read a segment of the path as `.` or `..`: some decode `%2e`, `%2f` and
 * `%5c`, also twice, or ignore what follows a `;`.
 */
function hasDotSegment(path: string): boolean {
  const characterOf = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  const decoded = path.replace(/%(?:25)*(2e|2f|5c|3b)/gi, characterOf);
  return decoded.split(/[/\\]/).some((segment) => /^\.{1,2}(;|$)/.test(segment));
}

/** Others, such as `URLSearchParams` or text, would be sent without their parameters or as something else. */
function requirePlainObject(query: unknown): void {
  if (Object.prototype.toString.call(query) !== '[object Object]') refuse('query', query, 'an object of parameters');
}

/** The values to send under one name; `undefined` is left out. */
function itemsOf(value: unknown): readonly unknown[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((item) => item !== undefined);
}

function refuseKeyParameter(name: string): void {
  if (name.toLowerCase() !== 'api_key') return;
  throw new ConfigError("query: 'api_key' is not a parameter; the client sends the key itself (option auth: 'query')");
}

/** Sent, they would cost a request and change nothing. Names that a service could have for itself, such as `priority`, are not among them. */
const CALL_OPTIONS: readonly string[] = namesOf<Exclude<keyof CallOptions, 'signal' | 'priority' | 'headers'>>({
  timeoutMs: true,
  deadlineMs: true,
  maxRetries: true,
  onLimit: true,
  maxAgeMs: true,
  useReserve: true,
});

function refuseCallOption(name: string): void {
  if (!CALL_OPTIONS.includes(name)) return;
  throw new ConfigError(
    `query: '${name}' is an option of the call, not a parameter of the service; pass it after the query, as in fx.latest(query, { ${name} })`,
  );
}

function textOf(name: string, value: unknown): string {
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  if (!isPlain) {
    throw new ConfigError(
      `query: '${name}' must be text, a finite number, true, false or a list of those, got ${describeValue(value)}`,
    );
  }
  return String(value);
}
