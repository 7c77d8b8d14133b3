/** Text that is HTML. All other values in a page are escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template; `undefined` and `false` are omitted. */
type HtmlValue = string | number | undefined | false | Html | readonly Html[];

/** A part of a page. Values are escaped for text and for quoted attributes. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings.reduce((text, string, index) => text + toHtml(values[index - 1]) + string));
}

interface HtmlPage {
  readonly title: string;
  /** Path of the style sheet. */
  readonly style: string;
  /** Additional elements of the head. */
  readonly head?: Html | undefined;
  readonly content: Html;
}

/** A whole page, as text. */
export function htmlPage({ title, style, head, content }: HtmlPage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
${head}
</head>
<body>
${content}
</body>
</html>
`.text;
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
