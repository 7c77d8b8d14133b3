import * as fc from 'fast-check';

interface Mutation {
  /** Index of the place in the value, modulo the number of places. */
  readonly where: number;
  readonly how: 'drop' | 'replace' | 'add' | 'nest' | 'tweak' | 'copy';
  readonly name: string;
  readonly fragment: unknown;
}

type Path = readonly (string | number)[];

/** JSON values that are a few mutations away from one of the examples. */
export function mutated(examples: readonly unknown[]): fc.Arbitrary<unknown> {
  const names = [...new Set(examples.flatMap(fieldNames)), 'extra', '', 'constructor', 'toString', 'length'];
  const mutation = fc.record<Mutation>({
    where: fc.nat(),
    how: fc.constantFrom('drop', 'replace', 'add', 'nest', 'tweak', 'copy'),
    name: fc.constantFrom(...names),
    fragment: fc.oneof(fc.constantFrom(...FRAGMENTS), fc.constantFrom(...examples), fc.jsonValue({ maxDepth: 2 })),
  });
  return fc
    .tuple(fc.constantFrom(...examples), fc.array(mutation, { maxLength: 3 }))
    .map(([example, mutations]) => mutations.reduce(mutate, example))
    .filter((value) => !JSON.stringify(value).includes('"__proto__":'));
}

/** Boundary values, and texts that are critical for formats, patterns and lengths. */
const FRAGMENTS: readonly unknown[] = [
  ...[null, true, false, [], {}, [[]], [null], { extra: 1 }],
  ...[0, -0, 1, -1, 5, 8, 10, 11, 42, 0.5, 1.5, 1000.5, 1000.6, 1e-7, 5e-324, 1.7976931348623157e308],
  ...[2 ** 31, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 53) + 1, -(2 ** 53), 1e21],
  ...['', ' ', 'a', 'ab', 'EUR', 'eur', 'EUR\n', 'EURO', 'low', 'high', 'closed', 'free', 'true', 'null', '0', '42'],
  ...['😀', '😀😀', '😀😀😀😀', '😀😀😀😀😀', '\ud800', '\udc00\ud800', '\ud800😀', 'e\u0301', '\u0000'],
  ...['2026-01-02', '2024-02-29', '2026-02-29', '2026-13-01', '2026-04-31', '0000-01-01', '2026-1-2', '12026-01-02'],
  ...['2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00Z', '2026-02-01T00:00:00+05:30', '2026-02-01T23:59:59-23:59'],
  ...'2026-02-01T00:00:00 2026-02-01T24:00:00Z 2026-02-30T00:00:00Z 2026-02-01T00:00Z 2026-02-01T00:60:00Z'.split(' '),
  ...['2026-02-01T00:00:00+24:00', '2026-02-01T00:00:00.Z', '2026-02-01T00:00:00.123456789Z', '2026-02-01T00:00:00Z\n'],
];

function mutate(root: unknown, { where, how, name, fragment }: Mutation): unknown {
  const paths = pathsIn(root);
  const path = paths[where % paths.length]!;
  const source = paths[Math.floor(where / paths.length) % paths.length]!;
  const changes: Record<Mutation['how'], (value: unknown) => unknown> = {
    drop: () => undefined,
    replace: () => fragment,
    add: (value) => added(value, name, fragment),
    nest: (value) => (where % 2 === 0 ? [value] : { [name]: value }),
    tweak: (value) => tweaked(value, where),
    copy: () => at(root, source),
  };
  return edit(root, path, changes[how]);
}

function added(value: unknown, name: string, fragment: unknown): unknown {
  if (Array.isArray(value)) return [...value, fragment];
  return isObject(value) ? { ...value, [name]: fragment } : fragment;
}

function tweaked(value: unknown, where: number): unknown {
  if (typeof value === 'number') return [value + 1, value - 1, -value, value + 0.5, String(value)][where % 5];
  if (typeof value === 'string') return [`${value}x`, value.slice(1), value.toUpperCase(), `${value}\ud83d`][where % 4];
  return typeof value === 'boolean' ? !value : value;
}

/** A copy of `root` with the value at `path` replaced; `undefined` removes it (and makes the root null). */
function edit(root: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(root) ?? null;
  if (Array.isArray(root)) {
    return root.flatMap((item, index) => (index === key ? editedOrNothing(item, rest, change) : [item]));
  }
  return Object.fromEntries(
    Object.entries(root as object).flatMap(([name, item]) =>
      name === key ? editedOrNothing(item, rest, change).map((value) => [name, value]) : [[name, item]],
    ),
  );
}

function editedOrNothing(item: unknown, path: Path, change: (value: unknown) => unknown): unknown[] {
  const value = path.length === 0 ? change(item) : edit(item, path, change);
  return value === undefined ? [] : [value];
}

function pathsIn(value: unknown): Path[] {
  const children = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const key = (name: string) => (Array.isArray(value) ? Number(name) : name);
  return [[], ...children.flatMap(([name, child]) => pathsIn(child).map((path) => [key(name), ...path]))];
}

function at(root: unknown, path: Path): unknown {
  return path.reduce((value, key) => (value as Record<string | number, unknown>)[key], root);
}

function fieldNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldNames);
  return isObject(value) ? Object.entries(value).flatMap(([name, field]) => [name, ...fieldNames(field)]) : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
