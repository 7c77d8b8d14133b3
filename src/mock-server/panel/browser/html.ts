import htm from 'htm';
import { h } from 'preact';

/** Markup in a template; preact puts every value in as text. */
export const html = htm.bind(h);
