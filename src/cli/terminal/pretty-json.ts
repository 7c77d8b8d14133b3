import { depthChange, type Token, tokens } from '../../json.ts';
import { visible } from '../../text.ts';
import type { Palette } from './screen.ts';

/** The styles of names, strings, and of `true`, `false` and `null`. */
type JsonPalette = Pick<Palette, 'name' | 'string' | 'faint'>;

/** Deeper levels are not indented further, or 10 000 levels would be 200 MB of spaces. */
const DEEPEST_INDENT = 32;

/**
 * `text` over several lines, safe to show on a terminal. Only white space between tokens changes: digits, escapes, order and
 * duplicates stay.
 */
export function prettyJson(text: string, palette: JsonPalette): string {
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
    line += token.kind === ':' ? ': ' : shown(text, token, palette);
    hasJustOpened = change > 0;
    depth += Math.max(change, 0);
    if (token.kind === ',') newLine();
  }
  return [...lines, line].join('\n');
}

/** `text` without the white space between its tokens. */
export function compactJson(text: string): string {
  const parts: string[] = [];
  for (const { start, end } of tokens(text)) parts.push(text.slice(start, end));
  return parts.join('');
}

function shown(text: string, { kind, start, end }: Token, palette: JsonPalette): string {
  const lexeme = text.slice(start, end);
  if (kind === 'string') return (isName(text, end) ? palette.name : palette.string)(visible(lexeme));
  return kind === 'literal' ? palette.faint(lexeme) : lexeme;
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charAt(at) === ':';
}
