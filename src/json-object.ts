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

/** The fields with a value other than `undefined`; the object itself if these are all. */
export function definedOf<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  if (!Object.values(fields).includes(undefined)) return fields as never; // most calls; a copy is slow
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
