import { expect, test } from 'vitest';
import { html } from '../../../src/mock-server/web/html.ts';

test('escapes for text and for quoted attributes', () => {
  const value = `<a href="x" id='y'>&`;
  expect(html`<p title="${value}">${value}</p>`.text).toBe(`<p title="${ESCAPED}">${ESCAPED}</p>`);
  expect(html`${undefined}${false}${0}${[html`<b>`, html`${'<'}`]}`.text).toBe('0<b>&lt;');
});

const ESCAPED = '&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;';
