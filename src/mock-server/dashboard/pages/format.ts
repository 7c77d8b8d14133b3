import { type Html, html } from '../../web/html.ts';

/** `1,000` */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 Feb 2026, 00:00 UTC` */
export function formatTime(at: number): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}">${FORMAT.format(date)} UTC</time>`;
}

const FORMAT = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium', timeStyle: 'short' });
