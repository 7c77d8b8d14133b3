import htm from 'htm';
import { h } from 'preact';
import { useState } from 'preact/hooks';

/** Markup in a template; preact puts every value in as text. */
export const html = htm.bind(h);

/** The first `rows` of `items`, which are newest first, and a button that shows as many more. */
export function useNewest<Item>(items: readonly Item[], rows: number) {
  const [most, setMost] = useState(rows);
  const older = items.length - most;
  const button =
    older > 0 &&
    html`<div><button type="button" onClick=${() => setMost(most + rows)}>Show older (${older})</button></div>`;
  return { shown: items.slice(0, most), button };
}
