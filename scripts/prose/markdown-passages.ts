/** Text that is read in one go: a paragraph, a heading, an item of a list or a cell of a table. */
export interface Passage {
  readonly text: string;
  /** 1-based, of the first character. */
  readonly line: number;
}

/**
 * The prose of a Markdown page. Code, targets of links and marks are replaced by as many other characters, so that each
 * line stays where it is. A link to a test is left out as a whole: its text is a title, not a sentence.
 */
export function markdownPassages(markdown: string): readonly Passage[] {
  const passages: { text: string; line: number }[] = [];
  let isOpen = false; // whether the next line continues the last passage
  for (const [index, line] of withoutMarks(markdown).split('\n').entries()) {
    const isRow = line.startsWith('|');
    if (line.trim() === '' || isRow) {
      const cells = line.split('|').filter((cell) => /\p{L}/u.test(cell));
      passages.push(...cells.map((text) => ({ text, line: index + 1 })));
      isOpen = false;
      continue;
    }
    const last = passages.at(-1);
    const isStart = /^\s*(?:#|[-*] |\d+\. )/.test(line);
    const isHeading = line.startsWith('#');
    if (isOpen && !isStart && last !== undefined) last.text += `\n${line}`;
    else passages.push({ text: line.replace(/^\s*(?:#+|[-*]|\d+\.) /, blank), line: index + 1 });
    isOpen = !isHeading;
  }
  return passages;
}

function withoutMarks(markdown: string): string {
  return markdown
    .replace(/^( *)```.*?^\1```$/gms, blank)
    .replace(/<!--.*?-->/gs, blank)
    .replace(/`[^`]+`/g, codeWords())
    .replace(/\[[^\]]*\]\([^)]*\.test\.ts\)/g, blank)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, (link, text: string) => ` ${text}`.padEnd(link.length))
    .replace(/\*+/g, blank);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/**
 * One word for the rules, in upper case, because a sentence can begin with code. Never the word of the code before it:
 * `a` `b` is not a repetition.
 */
function codeWords(): (code: string) => string {
  let count = 0;
  return (code) =>
    code.replace(/[^\n]+/g, ({ length }) => {
      count += 1;
      return (count % 2 === 0 ? 'X' : 'Y').repeat(length);
    });
}
