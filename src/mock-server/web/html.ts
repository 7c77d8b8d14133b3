/** Text that is HTML already; everything else that is put into a page is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a page takes: nothing for `undefined` and `false`. */
export type HtmlValue = string | number | undefined | false | Html | readonly Html[];

/** A piece of a page. Values are escaped for text and for quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings.reduce((text, string, index) => text + toHtml(values[index - 1]) + string));
}

function toHtml(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value).replace(SPECIAL, (character) => ENTITIES[character] ?? character);
}

const SPECIAL = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
