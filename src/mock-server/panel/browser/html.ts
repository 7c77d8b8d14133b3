import htm from 'htm';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import type { RejectedCall } from './mock-view.ts';

/** Markup in a template. Preact inserts all values as text. */
export const html = htm.bind(h);

/** A handler for `onInput` and `onChange`: passes on the value of the field. */
export function withValue(use: (value: string) => void) {
  return ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => use(currentTarget.value);
}

interface SelectProps {
  /** Values with their texts. */
  readonly options: readonly (readonly [string, string])[];
  readonly chosen: string | undefined;
  readonly choose: (value: string) => void;
}

/** A list to choose from; other properties are those of the element. A link can name a value that is not in the list yet. */
export function Select({ options, chosen, choose, ...attributes }: SelectProps) {
  const isListed = chosen === undefined || options.some(([value]) => value === chosen);
  // With `selected` on an option, the list would keep a choice that was refused.
  return html`<select ...${attributes} value=${chosen} onChange=${withValue(choose)}>
    ${[...options, ...(isListed ? [] : [[chosen, chosen]])].map(([value, text]) => html`<option value=${value}>${text}</option>`)}
  </select>`;
}

interface FrameProps {
  readonly title: string;
  readonly hint?: string;
  /** Beside the title. */
  readonly actions?: unknown;
  readonly children?: unknown;
}

/** A part of the page. */
export function Section({ title, hint, actions, children }: FrameProps) {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return html`<section class="card" aria-labelledby=${id}>
    <div class="row between"><div class="grow"><h2 id=${id} tabindex="-1">${title}</h2>${hint && html`<p class="hint">${hint}</p>`}</div>
      <div class="row actions">${actions}</div></div>
    ${children}
  </section>`;
}

interface RowsProps<Item> {
  /** Newest first. */
  readonly items: readonly Item[];
  readonly rows: (shown: readonly Item[]) => unknown;
  /** Replaces an empty list. */
  readonly empty?: string;
  /** Number of rows that the list shows at first, and adds on request. */
  readonly atOnce: number;
  /** Of the list element. */
  readonly attributes?: object;
}

/** A list of rows, newest first, and a button that shows older ones. */
export function Rows<Item>({ items, rows, empty, atOnce, attributes = {} }: RowsProps<Item>) {
  const [most, setMost] = useState(atOnce);
  const older = items.length - most;
  return html`${items.length === 0 && empty !== undefined && html`<p class="empty">${empty}</p>`}
    <ul class="plain" ...${attributes}>${rows(items.slice(0, most))}</ul>
    ${older > 0 && html`<div><button type="button" onClick=${() => setMost(most + atOnce)}>Show older (${older})</button></div>`}`;
}

interface RefusalProps {
  readonly refusal: RejectedCall | undefined;
  /** Shows errors of calls with this path. */
  readonly path: string;
  /** Also those of paths below it. */
  readonly below?: boolean;
}

/** The error of the last call, beside what caused it. */
export function Refusal({ refusal, path, below = false }: RefusalProps) {
  const isShown = refusal?.path === path || (below && refusal?.path.startsWith(`${path}/`));
  return isShown && html`<p class="note bad break" role="alert">${refusal?.message}</p>`;
}
