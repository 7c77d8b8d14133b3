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
