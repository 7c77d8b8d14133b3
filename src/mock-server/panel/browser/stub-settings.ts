import type { Stub } from '../../stubs/mock-stubs.ts';

type ShownResponse = Stub['responses'][number];

/** A stub of kind `responses` as the settings that define it. */
export function stubSettings({ match, times, priority, responses }: Stub): object {
  const [only, ...others] = responses;
  // A form would omit an empty body.
  const isSingle = only !== undefined && others.length === 0 && only.body.trim() !== '';
  const content = isSingle ? responseSettings(only) : { responses: responses.map(responseSettings) };
  return { match, times, priority: priority === 0 ? undefined : priority, ...content };
}

function responseSettings({ status, headers, cookies, body, delayMs, code }: ShownResponse): object {
  const all = cookies === undefined ? headers : { ...headers, 'set-cookie': cookies };
  return {
    status,
    headers: Object.keys(all).length === 0 ? undefined : all,
    delayMs,
    ...(code === null ? { body } : { error: errorIn(body) }),
  };
}

/** The journal has the code of an error envelope, but not of any other body. */
function errorIn(body: string): object {
  const { code, message } = JSON.parse(body).error;
  return { code, message };
}
