/** The value of a JSON text; `undefined`, which no JSON text can mean, for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller says what that means
  }
}
