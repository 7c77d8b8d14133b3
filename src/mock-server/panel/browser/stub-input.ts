import { isJson } from '../../../json-object.ts';
import type { Stub } from '../../stubs/mock-stubs.ts';
import { type FieldSchemas, type FormInput, inputOf } from './form-input.ts';

type ShownResponse = Stub['responses'][number];

/** A stub of kind `responses` as texts of a form that would add an equal one. */
export function stubInput({ match, times, priority, responses }: Stub, fields: FieldSchemas): FormInput {
  const [only, ...others] = responses;
  // A form omits an empty body.
  const isSingle = only !== undefined && others.length === 0 && only.body.trim() !== '';
  const content = isSingle ? responseSettings(only) : { responses: responses.map(responseSettings) };
  const input = inputOf({ match, times, priority: priority === 0 ? undefined : priority, ...content }, fields);
  const data = isSingle ? dataIn(only) : undefined;
  return data === undefined ? input : { ...input, body: '', data };
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

/** The JSON text in a success envelope as the mock writes it: parsed numbers would lose digits. */
function dataIn({ body }: ShownResponse): string | undefined {
  const [, data] = /^\{"success":true,"data":(.*)\}$/s.exec(body) ?? [];
  return data !== undefined && data === data.trim() && isJson(data) ? data : undefined;
}
