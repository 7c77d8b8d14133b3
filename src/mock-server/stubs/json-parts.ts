import { isJsonObject, members, parseJson } from '../../json.ts';

/**
 * The members of a JSON object, or the elements of an array, as texts: the digits of numbers stay as they are. The text
 * must be valid JSON of one of the two.
 */
export function jsonParts(json: string): readonly { readonly name: string; readonly text: string }[] {
  const value = json.trimStart();
  return Array.from(members(value, 0), ({ name, range: { start, end } }) => ({ name, text: value.slice(start, end) }));
}

/** The parsed value of a part that is a string of JSON text; otherwise the part. */
export function unquoted(json: string): string {
  return json.startsWith('"') ? JSON.parse(json) : json;
}

/** JSON that is sent as it was written: its numbers keep their digits. */
export class JsonText {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** A stub as JSON, with `data` and `body` of each response as `JsonText`. */
export function withDigits(json: string): unknown {
  const stub = parseJson(json);
  if (!isJsonObject(stub)) return stub;
  const exact: { data?: unknown; body?: unknown; responses?: unknown } = {};
  for (const { name, text } of jsonParts(json)) {
    if (name === 'responses' && text.startsWith('[')) {
      exact[name] = jsonParts(text).map((part) => withDigits(part.text));
    } else if ((name === 'data' || name === 'body') && !text.startsWith('"')) {
      exact[name] = new JsonText(text);
    }
  }
  return { ...stub, ...exact };
}

/**
 * A value as JSON; `undefined` if JSON cannot represent it: it is cyclic, binary, or an object without content for JSON,
 * such as a Map or a promise, or it has a bigint, NaN or Infinity.
 */
export function jsonOf(value: unknown): string | undefined {
  if (ArrayBuffer.isView(value)) return undefined;
  try {
    const json = JSON.stringify(value, finite);
    return json === '{}' && !isPlain(value) ? undefined : json;
  } catch {
    return undefined;
  }
}

function isPlain(value: unknown): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** JSON.stringify would write null. */
function finite(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('JSON has only finite numbers.');
  return value;
}
