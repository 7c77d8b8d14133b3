/** Whether a path is the one a test means: exactly, or with `*` for any run of characters. */
export function matchesPath(pattern: string, path: string): boolean {
  if (!pattern.includes('*')) return pattern === path;
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop() ?? '';
  if (!path.startsWith(first) || !path.slice(first.length).endsWith(last)) return false;
  // Leftmost finds, one after the other: no pattern takes longer than the path is.
  let from = first.length;
  for (const piece of rest) {
    const at = path.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return from <= path.length - last.length;
}
