/** A Markdown table: names to the left, figures to the right. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = heads.map((_, place) => (place === 0 ? '---' : '--:'));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
