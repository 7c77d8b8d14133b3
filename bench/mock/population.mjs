/**
 * The mock's seed decides the keys, so a mock in another process has the same ones. With spaces, the spaces own the
 * keys.
 */
export function populate(mock, { spaces, keys }) {
  const owners = spaces === 0 ? [mock] : Array.from({ length: spaces }, () => mock.space());
  return Array.from({ length: keys }, (_, place) => owners[place % owners.length].createKey({ plan: 'unlimited' }).key);
}
