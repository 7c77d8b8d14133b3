/** Text that is checked as a unit: a paragraph, a heading, an item of a list or a cell of a table. */
interface Passage {
  readonly text: string;
  /** Line of the first character, from 1. */
  readonly line: number;
}

/**
 * The prose of a Markdown page. Code, link targets and markup are replaced by the same number of other characters, so
 * that all line numbers stay the same. Definitions of links are removed completely: their titles are not sentences.
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
    .replace(/^\[[^\]]+\]: .*$/gm, blank)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, (link, text: string) => ` ${text}`.padEnd(link.length))
    .replace(/\*+/g, blank);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/**
 * One word in upper case, because a sentence can begin with code. It differs from the word for the code before it,
 * so that `a` `b` is not a repetition.
 */
function codeWords(): (code: string) => string {
  let count = 0;
  return (code) =>
    code.replace(/[^\n]+/g, ({ length }) => {
      count += 1;
      return (count % 2 === 0 ? 'X' : 'Y').repeat(length);
    });
}
