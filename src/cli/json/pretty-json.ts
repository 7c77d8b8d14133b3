import { depthChange, type Token, tokens } from '../../json.ts';

/** The style of each kind of token. Each function receives the source text of one token. */
export interface JsonPaint {
  readonly name: (lexeme: string) => string;
  readonly string: (lexeme: string) => string;
  readonly number: (lexeme: string) => string;
  readonly literal: (lexeme: string) => string;
}

/** Deeper levels are not indented further, or 10 000 levels would be 200 MB of spaces. */
const DEEPEST_INDENT = 32;

/** `text` over several lines. Only white space between tokens changes: digits, escapes, order and duplicates stay. */
export function prettyJson(text: string, paint: JsonPaint): string {
  const lines: string[] = [];
  let line = '';
  let depth = 0;
  let hasJustOpened = false;
  const newLine = () => {
    lines.push(line);
    line = '  '.repeat(Math.min(depth, DEEPEST_INDENT));
  };
  for (const token of tokens(text)) {
    const change = depthChange(token);
    depth += Math.min(change, 0);
    // Brackets that are not empty are on separate lines.
    if (change < 0 !== hasJustOpened) newLine();
    line += token.kind === ':' ? ': ' : shown(text, token, paint);
    hasJustOpened = change > 0;
    depth += Math.max(change, 0);
    if (token.kind === ',') newLine();
  }
  return [...lines, line].join('\n');
}

/** `text` with its tokens in colour and all white space as it is. */
export function paintedJson(text: string, paint: JsonPaint): string {
  const parts: string[] = [];
  let end = 0;
  for (const token of tokens(text)) {
    parts.push(text.slice(end, token.start), shown(text, token, paint));
    end = token.end;
  }
  return parts.join('') + text.slice(end);
}

/** `text` without the white space between its tokens. */
export function compactJson(text: string): string {
  const parts: string[] = [];
  for (const { start, end } of tokens(text)) parts.push(text.slice(start, end));
  return parts.join('');
}

function shown(text: string, { kind, start, end }: Token, paint: JsonPaint): string {
  const lexeme = text.slice(start, end);
  if (kind === 'string') return isName(text, end) ? paint.name(lexeme) : paint.string(lexeme);
  if (kind === 'number') return paint.number(lexeme);
  if (kind === 'literal') return paint.literal(lexeme);
  return lexeme;
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charAt(at) === ':';
}
