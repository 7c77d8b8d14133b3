type Json = Readonly<Record<string, unknown>>;

/** A document with the additions of another one. A key whose value is empty is removed. */
export function merged(one: Json, other: Json): Json {
  const entries = Object.entries(other).map(([name, value]) => {
    const own = one[name];
    return [name, isMap(own) && isMap(value) ? merged(own, value) : value];
  });
  const all = Object.entries({ ...one, ...Object.fromEntries(entries) });
  return Object.fromEntries(all.filter(([name, value]) => value !== null || one[name] === null));
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
