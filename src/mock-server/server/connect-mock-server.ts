import { codeOf, isLostInJson, isRegExp } from '../../foreign-values.ts';
import { parseJson } from '../../json.ts';
import type { MockClock } from '../clock/clock.ts';
import { ADMIN_ROOT } from '../http/parse-request.ts';
import { MOCK_HEADER } from '../http/responses.ts';
import { invalidOption, MockServerError, notFound } from '../input/mock-server-error.ts';
import type { JournalEntry, RequestFilter } from '../journal/journal.ts';
import { type Claim, createExpectation, type MockJournal, type RequestExpectation } from '../journal/mock-journal.ts';
import { regExpText } from '../matching/request-pattern.ts';
import type { MockMethods, Space, SpaceOptions } from '../mock/mock-methods.ts';
import type { AdminRoute, RouteRequest } from './admin-server.ts';
import { problem } from './gate.ts';
import { adminRoutes } from './routes.ts';
import { requestFromWorker } from './worker-request.ts';

/** A mock server in another process. It has the methods of a mock that need no function of this process, as promises. */
export interface RemoteMockServer extends RemoteMethods {
  /**
   * Opens a space, as `mock.space()` does.
   * @throws MockServerError with code `space_exists`, if the name or the key of the space is in use; `invalid_option`.
   */
  space(options?: SpaceOptions): Promise<RemoteSpace>;
  /**
   * Closes all spaces, including those that other processes opened, for example a test run that was killed. Resolves to the
   * names of the closed spaces.
   */
  closeSpaces(): Promise<readonly string[]>;
}

/** A space of a mock server in another process. Its methods return promises. */
export type RemoteSpace = RemoteMethods &
  Pick<Space, 'name' | 'key' | 'keyId' | 'accountId' | 'close'> &
  AsyncDisposable;

/**
 * Connects to a mock server in another process, by its `adminUrl`, or by its URL and the admin token. Methods reject with the `MockServerError` of the mock, or with code `no_mock_server` if the server is not a mock, or does not respond within 30 seconds (`journal.waitFor`: after its own time; `clock.advance`: within 270 seconds).
 * @throws MockServerError with code `invalid_option`, for an invalid URL, or a token that is missing or invalid.
 * @example const remote = connectMockServer(process.env.FXRATES_MOCK_ADMIN_URL)
 */
export function connectMockServer(url: string, token?: string): RemoteMockServer {
  const { protocol = '', origin = '', hash = '' } = URL.canParse(url) ? new URL(url) : {};
  if (!/^https?:$/.test(protocol)) {
    const shown = typeof url === 'string' ? url.replace(/#.*/s, '') : url; // without the token
    throw invalidOption(
      'url',
      shown,
      'the adminUrl that the mock server prints when it starts, or that `fxrates mock --` passes to its command',
    );
  }
  const given = token ?? /^#token=(.*)$/.exec(hash)?.[1] ?? '';
  if (!/^[\w-]+$/.test(given)) {
    const problem = given === '' ? 'is missing' : 'has a character other than letters, digits, _ and -';
    const text = `token ${problem}; pass the adminUrl that the mock server prints when it starts, or the admin token.`;
    throw new MockServerError(text, { code: 'invalid_option', field: 'token' });
  }
  const admin = { url: `${origin}${ADMIN_ROOT}`, token: given, origin };
  const { openSpace, closeSpace, closeSpaces, methods } = createCalls(admin);
  return {
    ...methods,
    closeSpaces,
    async space(options = {}) {
      const opened = await openSpace(options);
      const { methods: own } = createCalls({ ...admin, url: `${admin.url}/spaces/${opened.name}` });
      const close = () =>
        closeSpace(opened.name).catch((error: MockServerError) => {
          if (error.code !== 'not_found') throw error; // it is closed already
        });
      return Object.defineProperty({ ...own, ...opened, close, [Symbol.asyncDispose]: close }, 'key', {
        enumerable: false,
      });
    },
  };
}

/** An admin API, of a mock or of a space. */
interface AdminAddress {
  readonly url: string;
  readonly token: string;
  /** Of the server. */
  readonly origin: string;
}

/** The methods of `Local`, and its properties as methods; they return promises. */
export type Remote<Local> = {
  readonly [Name in keyof Local]: Local[Name] extends (...parameters: infer Parameters) => infer Result
    ? (...parameters: Parameters) => Promise<Awaited<Result>>
    : () => Promise<Local[Name]>;
};

/** The parts of a mock that need no function of its process. `rules.add()` rejects a function. */
type RemoteParts = {
  readonly [Part in keyof Pick<MockMethods, 'accounts' | 'keys' | 'rules' | 'latest' | 'behaviour'>]: Remote<
    MockMethods[Part]
  >;
};

/** The methods of a mock or a space in another process. */
export interface RemoteMethods
  extends RemoteParts,
    Remote<Pick<MockMethods, 'createKey' | 'setUp' | 'expectAllUsed' | 'audit' | 'snapshot' | 'restore' | 'reset'>> {
  /** URL of the server, for the client's option `baseUrl`. */
  readonly baseUrl: string;
  /** The clock of the mock. Rate windows, quota periods and rules use it. */
  readonly clock: Remote<Pick<MockClock, 'now' | 'advance' | 'advanceTo' | 'freeze' | 'resume'>>;
  /** The requests that the mock received, each with the reason for its response. */
  readonly journal: RemoteJournal;
  /** Returns assertions, as `mock.expectRequests()` does. They return promises. */
  expectRequests(filter?: RequestFilter): Remote<RequestExpectation>;
}

/** The journal of a mock in another process. `timeoutMs` of `waitFor()` is at most 240,000. */
export interface RemoteJournal extends Remote<Pick<MockJournal, 'clear' | 'dropped' | 'waitFor'>> {
  /**
   * Returns the newest `limit` requests, oldest first; with `after`, the oldest ones after that number. The default and the
   * maximum of `limit` are 1000.
   */
  list(filter?: RequestFilter & { readonly limit?: number | undefined }): Promise<readonly JournalEntry[]>;
}

/** What the routes of the table do. A test compares their names with the methods of a mock. */
interface RouteCalls extends Omit<RemoteMethods, 'baseUrl' | 'expectRequests'> {
  openSpace(options: SpaceOptions): Promise<Pick<Space, 'name' | 'key' | 'keyId' | 'accountId'>>;
  closeSpace(name: string): Promise<void>;
  closeSpaces(): Promise<readonly string[]>;
  verifyRequests(filter: RequestFilter, claim: Claim): Promise<void>;
}

function createCalls(admin: AdminAddress) {
  const calls: Record<string, unknown> = {};
  for (const route of adminRoutes) {
    for (const [id, { send, read = (value: unknown) => value }] of Object.entries(route.calls ?? {})) {
      const call = async (...given: readonly never[]) => read((await sendAdmin(admin, route, send(...given))) as never); // the server has checked it
      const [part = '', own] = id.split('.');
      calls[part] = own === undefined ? call : { ...Object(calls[part]), [own]: call };
    }
  }
  const { openSpace, closeSpace, closeSpaces, verifyRequests, ...others } = calls as unknown as RouteCalls;
  const methods: RemoteMethods = {
    ...others,
    baseUrl: admin.origin,
    expectRequests: (filter = {}) => createExpectation((claim) => verifyRequests(filter, claim)),
  };
  return { openSpace, closeSpace, closeSpaces, methods };
}

/** Sends a request to a route. Throws the errors that the mock itself would throw. */
async function sendAdmin(
  { url, token, origin }: AdminAddress,
  route: AdminRoute,
  { path = {}, query = {}, body, waitMs = 0 }: RouteRequest,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const place = route.path.replace(/\{(\w+)\}/g, (_, parameter: string) => pathSegment(String(path[parameter])));
  // A string is JSON already. Its numbers keep their digits.
  const text = typeof body === 'string' ? body : sendableJson(body);
  const mostMs = SILENCE_MS + waitMs;
  const sent = { url: `${url}${place}${searchOf(query)}`, method: route.method, headers, body: text, mostMs };
  const response = await requestFromWorker(sent).catch((cause: unknown) => {
    throw noServer(origin, cause, mostMs);
  });
  // Another server may respond to anything.
  if (response.headers[MOCK_HEADER] === undefined) throw refusalOf(response.status, undefined, origin);
  const value = parseJson(response.text);
  if (response.status >= 300) throw refusalOf(response.status, value, origin);
  return value;
}

/** A URL cannot have `.`, `..` or half a surrogate pair as a segment; no id is one of them. */
function pathSegment(id: string): string {
  if (/^\.\.?$|\p{Cs}/u.test(id)) throw notFound(`There is nothing with the id '${id}'.`);
  return encodeURIComponent(id);
}

/** @throws MockServerError for a value that JSON cannot represent: it is cyclic, or reading it fails */
function sendableJson(body: unknown): string {
  let last: readonly [name: string, value: unknown] = ['', body];
  const read = (name: string, value: unknown) => {
    last = [name, value];
    return sendable(name, value);
  };
  try {
    return JSON.stringify(body, read);
  } catch (error) {
    if (error instanceof MockServerError) throw error;
    throw notJson(...last);
  }
}

/** JSON has no regular expressions. Refuses values that JSON would lose. */
function sendable(name: string, value: unknown): unknown {
  if (isRegExp(value)) return regExpText(value);
  if (isLostInJson(value)) throw notJson(name, value);
  // Without the condition, a rule would apply to other requests too.
  const [undefinedName] = /^(?:query|headers)$/.test(name)
    ? (Object.entries(Object(value)).find(([, one]) => one === undefined) ?? [])
    : [];
  if (undefinedName !== undefined) throw invalidOption(name, value, `a value for ${undefinedName}, not undefined`);
  return value;
}

function notJson(name: string, value: unknown): MockServerError {
  return invalidOption(name || 'argument', value, 'a value that JSON can represent');
}

function searchOf(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

/** Milliseconds after which a server that does not respond is not a mock, or is stopped. */
const SILENCE_MS = 30_000;

/** The error of a connection that failed. */
function noServer(origin: string, error: unknown, mostMs: number): MockServerError {
  const code = codeOf(error);
  const reason = code === undefined ? '' : ` (${code})`;
  let text = `There is no server at ${origin}${reason}; start one with fxrates mock.`;
  if (reason.includes('CERT'))
    text = `The certificate of ${origin} is not trusted${reason}; start Node with NODE_EXTRA_CA_CERTS=/path/to/cert.pem.`;
  if (code === 'ETIMEDOUT')
    text = `The server at ${origin} did not respond within ${mostMs / 1000} s; pass the adminUrl of a running fxrates mock.`;
  return new MockServerError(text, { code: 'no_mock_server', cause: error });
}

function refusalOf(status: number, content: unknown, origin: string): MockServerError {
  const { data } = problem.safeParse(content);
  // As in process, where an error about an argument has no status.
  const own = status === 400 ? undefined : status;
  if (data !== undefined) return new MockServerError(data.error.message, { ...data.error, status: own });
  const text = `The server at ${origin} is not an fxrates mock server (status ${status}); start one with fxrates mock.`;
  return new MockServerError(text, { code: 'no_mock_server', status });
}
