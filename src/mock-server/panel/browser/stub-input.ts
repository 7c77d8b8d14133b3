import { isJson, parseJson } from '../../../json-object.ts';
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

function responseSettings(response: ShownResponse): object {
  const { status, headers, body, delayMs } = response;
  const error = errorIn(response);
  const content = error === undefined ? { body } : { error };
  return { status, headers: Object.keys(headers).length === 0 ? undefined : headers, delayMs, ...content };
}

type Envelope = { readonly error?: { readonly code?: unknown; readonly message?: unknown } } | null | undefined;

/** The error of an envelope as the mock writes it; `undefined` for any other body. */
function errorIn({ status, body }: ShownResponse): object | undefined {
  const parsed = parseJson(body) as Envelope;
  const { code, message } = parsed?.error ?? {};
  const isEnvelope = JSON.stringify(parsed) === JSON.stringify({ success: false, error: { code, message, status } });
  return isEnvelope ? { code, message } : undefined;
}

/** The JSON text in a success envelope as the mock writes it: parsed numbers would lose digits. */
function dataIn({ body }: ShownResponse): string | undefined {
  const [, data] = /^\{"success":true,"data":(.*)\}$/s.exec(body) ?? [];
  return data !== undefined && data === data.trim() && isJson(data) ? data : undefined;
}
