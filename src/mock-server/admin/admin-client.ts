import { MockServerError } from '../mock-server-error.ts';
import { ADMIN_ROOT } from './admin-root.ts';

/** One call of the admin API. */
export type AskAdmin = (method: string, path: string, options?: AskOptions) => Promise<unknown>;

interface AskOptions {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, unknown>>;
}

/** Sends calls to the admin API at `origin`; what it refuses is thrown as the mock itself would throw it. */
export function createAsk(origin: string, token: string): AskAdmin {
  return async (method, path, { body, query = {} } = {}) => {
    const url = `${origin}${ADMIN_ROOT}${path}${searchOf(query)}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url, { method, headers, ...content });
    const text = await response.text();
    if (!response.ok) throw refusalOf(response.status, text, origin);
    return text === '' ? undefined : JSON.parse(text);
  };
}

function searchOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

function refusalOf(status: number, text: string, origin: string): MockServerError {
  const { code, message } = problemIn(text) ?? {
    code: 'no_mock_server',
    message: `What answers at ${origin} is no mock server of fxrates (status ${status}).`,
  };
  return new MockServerError(message, { code, status });
}

function problemIn(text: string): { readonly code: string; readonly message: string } | undefined {
  try {
    const { error } = JSON.parse(text);
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : undefined;
  } catch {
    // Not JSON: whatever answered, it was no mock.
    return undefined;
  }
}
