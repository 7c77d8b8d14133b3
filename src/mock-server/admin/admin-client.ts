import { parseJson } from '../../json.ts';
import { regExpText } from '../matching/request-pattern.ts';
import { invalidOption, MockServerError, notFound } from '../mock-server-error.ts';
import type { AdminRoute } from './route.ts';
import { problem } from './shapes.ts';

interface Sent {
  /** Parameters of the path. */
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: object | undefined;
  readonly body?: unknown;
}

/** Sends a request to a route, by its name, `PUT /accounts/{accountId}/plan`. The caller's type describes the result. */
export type SendAdmin = <Result>(name: string, sent?: Sent) => Promise<Result>;

/** Creates the function that calls the admin API below `url`. It throws the errors that the mock itself would throw. */
export function createSendAdmin(url: string, token: string): SendAdmin {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = async (name: string, { path = {}, query = {}, body }: Sent = {}): Promise<unknown> => {
    const [method = '', template = ''] = name.split(' ');
    const place = template.replace(/\{(\w+)\}/g, (_, parameter: string) => pathSegment(String(path[parameter])));
    // A string is JSON already. Its numbers keep their digits.
    const text = typeof body === 'string' ? body : JSON.stringify(body, sendable);
    const sent = body === undefined ? {} : { body: text };
    const response = await fetch(`${url}${place}${searchOf(query)}`, { method, headers, ...sent }).catch((cause) => {
      throw noServer(new URL(url).origin, cause);
    });
    const content = await response.text();
    const value = parseJson(content, HAS_DATES.test(template) ? withDates : undefined);
    const isResult = response.ok && (content === '' || value !== undefined);
    if (!isResult) throw refusalOf(response.status, value, new URL(url).origin);
    return value;
  };
  // The server has checked the output of the route.
  return send as SendAdmin;
}

/** Sends the arguments of a method of the mock to its route. */
export function callMethod(send: SendAdmin, { method, path, takes = [] }: AdminRoute) {
  return (...given: readonly unknown[]): Promise<unknown> => {
    const sent: Record<string, unknown> = {};
    for (const [index, place] of takes.entries()) {
      const [part = '', field] = place.replace('text', 'body').split('.');
      sent[part] = field === undefined ? given[index] : { ...Object(sent[part]), [field]: given[index] };
    }
    return send(`${method} ${path}`, sent);
  };
}

/** A URL cannot have `.` and `..` as a segment; no id is one of them. */
function pathSegment(id: string): string {
  if (id === '.' || id === '..') throw notFound(`There is nothing with the id '${id}'.`);
  return encodeURIComponent(id);
}

/** JSON has no regular expressions. Refuses values that JSON would lose. */
function sendable(name: string, value: unknown): unknown {
  if (value instanceof RegExp) return regExpText(value);
  const isLost =
    ['function', 'bigint'].includes(typeof value) ||
    ArrayBuffer.isView(value) ||
    (typeof value === 'number' && !Number.isFinite(value));
  if (isLost) throw invalidOption(name || 'argument', value, 'a value that JSON can represent');
  return value;
}

/** Other results have no dates, but can have names of the user, such as those of parameters. */
const HAS_DATES = /^\/(?:accounts|keys|outbox)\b/;

/** JSON has no dates. In these results, the names of dates end in `At`, such as `createdAt`. */
function withDates(name: string, value: unknown): unknown {
  return typeof value === 'string' && name.endsWith('At') ? new Date(value) : value;
}

function searchOf(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

/** The error of a connection that failed. */
function noServer(origin: string, error: unknown): MockServerError {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }; // of fetch
  const reason = typeof cause?.code === 'string' ? ` (${cause.code})` : '';
  const text = `There is no server at ${origin}${reason}; start one with fxrates mock.`;
  return new MockServerError(text, { code: 'no_mock_server', cause: error });
}

function refusalOf(status: number, content: unknown, origin: string): MockServerError {
  const { data } = problem.safeParse(content);
  if (data !== undefined) return new MockServerError(data.error.message, { ...data.error, status });
  const text = `The server at ${origin} is not an fxrates mock server (status ${status}); start one with fxrates mock.`;
  return new MockServerError(text, { code: 'no_mock_server', status });
}
