import { table } from '../table.ts';

/** What one part of the bench found: names in the first column, figures in the others. */
export interface Figures {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly [string, ...number[]])[];
  /** What was measured how, and what was left out. */
  readonly notes?: readonly string[];
}

export function asText({ heads, rows, notes = [] }: Figures): string {
  const cells = rows.map(([name, ...figures]) => [name, ...figures.map(rounded)]);
  return [table(heads, cells), ...notes].join('\n\n');
}

/** Each row as an object with the heads as its names. */
export function asRecords({ heads, rows, notes = [] }: Figures) {
  return { rows: rows.map((row) => Object.fromEntries(row.map((cell, place) => [heads[place], cell]))), notes };
}

/** The columns that do not depend on the machine: ratios, whose heads have a slash, and bytes. */
export function ratiosOf(part: string, { heads, rows }: Figures): Record<string, number> {
  const kept = heads.flatMap((head, place) => (/\/ |bytes/i.test(head) ? [{ head, place }] : []));
  return Object.fromEntries(
    rows.flatMap((row) => kept.map(({ head, place }) => [`${part}: ${row[0]}, ${head}`, Number(row[place])])),
  );
}

function rounded(figure: number): string {
  return figure.toFixed(Math.abs(figure) < 10 ? 2 : 0);
}
