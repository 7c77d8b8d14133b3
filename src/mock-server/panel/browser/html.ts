import htm from 'htm';
import { h } from 'preact';
import { useState } from 'preact/hooks';

/** Markup in a template. Preact inserts all values as text. */
export const html = htm.bind(h);

/** A handler for `onInput` and `onChange`: passes on the value of the field. */
export function withValue(use: (value: string) => void) {
  return ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => use(currentTarget.value);
}

interface SelectProps {
  /** Values with their texts. */
  readonly options: readonly (readonly [string, string])[];
  readonly chosen: string;
  readonly choose: (value: string) => void;
}

/** A list to choose from; other properties are those of the element. */
export function Select({ options, chosen, choose, ...attributes }: SelectProps) {
  return html`<select ...${attributes} onChange=${withValue(choose)}>
    ${options.map(([value, text]) => html`<option value=${value} selected=${value === chosen}>${text}</option>`)}
  </select>`;
}

/** The first `rows` of `items`, which are newest first, and a button that shows as many more. */
export function useNewest<Item>(items: readonly Item[], rows: number) {
  const [most, setMost] = useState(rows);
  const older = items.length - most;
  const button =
    older > 0 &&
    html`<div><button type="button" onClick=${() => setMost(most + rows)}>Show older (${older})</button></div>`;
  return { shown: items.slice(0, most), button };
}
