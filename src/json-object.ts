export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither `null` nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; `undefined` if it is not JSON. */
export function parseJson(text: string, revive?: (name: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, revive);
  } catch {
    return undefined; // no JSON text has this value
  }
}

export function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}
