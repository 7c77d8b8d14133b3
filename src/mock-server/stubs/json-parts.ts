/**
 * The members of a JSON object, or the elements of an array, as texts: the digits of numbers stay as they are. The text
 * must be valid JSON of one of the two.
 */
export function jsonParts(json: string): readonly { readonly name: string; readonly text: string }[] {
  const inner = json.trim().slice(1, -1);
  const isObject = json.trimStart().startsWith('{');
  return split(inner, ',').map((part, index) => {
    if (!isObject) return { name: String(index), text: part.trim() };
    const [name = '""'] = split(part, ':');
    return { name: JSON.parse(name), text: part.slice(name.length + 1).trim() };
  });
}

/** What a part holds if it is itself a string of JSON text; otherwise the part. */
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

/** A stub that was sent as JSON, with `data` and `body` of each answer as `JsonText`. */
export function withDigits<Stub>(stub: Stub, json: string): Stub {
  if (typeof stub !== 'object' || stub === null || Array.isArray(stub)) return stub;
  const exact: { data?: unknown; body?: unknown; responses?: unknown } = {};
  for (const { name, text } of jsonParts(json)) {
    if (name === 'responses' && text.startsWith('[')) {
      exact[name] = jsonParts(text).map((part) => withDigits<unknown>(JSON.parse(part.text), part.text));
    } else if ((name === 'data' || name === 'body') && !text.startsWith('"')) {
      exact[name] = new JsonText(text);
    }
  }
  return { ...stub, ...exact };
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Splits at a mark that is in no string and in no inner object or array. */
function split(text: string, mark: ',' | ':'): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    depth += DEPTH[token] ?? 0;
    if (token !== mark || depth > 0) continue;
    parts.push(text.slice(from, index));
    from = index + 1;
  }
  return text.trim() === '' ? [] : [...parts, text.slice(from)];
}

const DEPTH: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 };
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;
