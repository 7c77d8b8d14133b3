/** The named parts of `path` where it has the form of `template`, such as `/keys/{id}`; otherwise `undefined`. */
export function matchPath(template: string, path: string): Readonly<Record<string, string>> | undefined {
  const expected = template.split('/');
  const given = path.split('/');
  if (expected.length !== given.length) return undefined;
  const parts: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    const part = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined ? part !== segment : !PLAIN.test(part)) return undefined;
    if (name !== undefined) parts[name] = part;
  }
  return parts;
}

/** Identifiers are plain; what is encoded or has dots in it names nothing. */
const PLAIN = /^[\w-]+$/;
