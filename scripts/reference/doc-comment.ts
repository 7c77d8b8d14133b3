import ts from 'typescript';

/** The content of the comment above a declaration. */
export interface DocComment {
  readonly paragraphs: readonly string[];
  /** From `@default`, or from a sentence that begins with `Default:`. */
  readonly byDefault: string | undefined;
  readonly examples: readonly string[];
  /** One sentence for each `@param`, `@returns` and `@throws`. */
  readonly notes: readonly string[];
}

const DEFAULT_SENTENCE = /(?:^|\s+)Default: (.+?)(?:\.(?=\s|$)|$)/s;

/** The comments of one declaration, or of all overloads of a function, without repeated paragraphs. */
export function readDocComment(nodes: readonly ts.Node[]): DocComment {
  const comments = nodes.flatMap((node) => ts.getJSDocCommentsAndTags(node)).filter(ts.isJSDoc);
  const tags = comments.flatMap((comment) => comment.tags ?? []);
  const tagTexts = (name: string) =>
    tags.filter(({ tagName }) => tagName.text === name).map(({ comment }) => textOf(comment));
  const text = comments.map(({ comment }) => textOf(comment)).join('\n\n');
  const paragraphs = unique(text.split(/\n\s*\n/).map(joinLines)).filter((paragraph) => paragraph !== '');
  const sentence = paragraphs.map((paragraph) => DEFAULT_SENTENCE.exec(paragraph)?.[1]).find(Boolean);
  return {
    paragraphs: paragraphs.map((paragraph) => paragraph.replace(DEFAULT_SENTENCE, '').trim()).filter(Boolean),
    byDefault: tagTexts('default').map(joinLines).map(asCode)[0] ?? sentence,
    examples: unique(tagTexts('example').map(withoutFence)),
    notes: unique([
      ...tags
        .filter(ts.isJSDocParameterTag)
        .map(({ name, comment }) => `\`${name.getText()}\`: ${joinLines(textOf(comment))}`),
      ...tagTexts('returns').map((returned) => `Returns: ${joinLines(returned)}`),
      ...tags.filter(ts.isJSDocThrowsTag).map((tag) => `Throws: ${thrown(tag)}`),
    ]),
  };
}

/** Marks a value as code, unless it consists of words or is marked already. */
function asCode(text: string): string {
  return /[`\p{L}] \p{L}|`/u.test(text) ? text : `\`${text}\``;
}

function withoutFence(example: string): string {
  return example.trim().replace(/^```\w*\n(.*?)\n?```$/s, '$1');
}

/** The error is `{X}` or the first word. */
function thrown({ typeExpression, comment }: ts.JSDocThrowsTag): string {
  const error = typeExpression?.type.getText() ?? '';
  return joinLines(`${error} ${textOf(comment)}`).replace(/^(\w+Error)\b/, '`$1`');
}

function textOf(comment: string | ts.NodeArray<ts.JSDocComment> | undefined): string {
  return (ts.getTextOfJSDocComment(comment) ?? '').replaceAll(/\{@link (\S+?)\}/g, '`$1`');
}

/** A paragraph as one line; the items of a list stay on separate lines. */
function joinLines(paragraph: string): string {
  return paragraph.trim().replaceAll(/\s*\n\s*(?![-*] )/g, ' ');
}

function unique(texts: readonly string[]): string[] {
  return Array.from(new Set(texts));
}
