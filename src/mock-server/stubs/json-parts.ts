import { members } from '../../json-tokens.ts';

/**
 * The members of a JSON object, or the elements of an array, as texts: the digits of numbers stay as they are. The text
 * must be valid JSON of one of the two.
 */
export function jsonParts(json: string): readonly { readonly name: string; readonly text: string }[] {
  const value = json.trimStart();
  return Array.from(members(value, 0), ({ name, range: { start, end } }) => ({ name, text: value.slice(start, end) }));
}

/** What a part holds if it is itself a string of JSON text; otherwise the part. */
export function unquoted(json: string): string {
  return json.startsWith('"') ? JSON.parse(json) : json;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
