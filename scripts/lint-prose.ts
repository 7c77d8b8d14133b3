/**
 * Part of `npm run check`: checks the English of the documents and of the help texts. Exits with 1 if it reports a
 * problem.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliCommand } from '../src/cli/parser/command.ts';
import { createProgram } from '../src/cli/program/program.ts';

/** Longest sentence, in words. */
const LONGEST_SENTENCE = 30;

/** Phrases with advice. Each has found something in a document of this project. */
const PHRASES: readonly (readonly [phrase: RegExp, advice: string])[] = [
  [/\b(?:no|any)body\b|\bwhoever\b|\bone (?:needs|would)\b/gi, 'name the user, the process or the object'],
  [/(?<!you |users |\bI )\bwants?\b/gi, 'a program does not want: needs, requires, expects'],
  [/(?<!\bthere )\b(?:is|are) no (?!longer|more|less|further|other)/gi, 'write: is not a …'],
  [/\btells?\b(?! \w+ apart\b)|\bis told\b|\btold by\b/gi, 'write: reports, shows, says'],
  [/\bgo(?:es)? on\b(?! to\b)|\bon (?:its|their) way\b/gi, 'write: continues'],
  [/\bbears?\b/gi, 'use a standard verb'],
  [/\bas it (?:came|comes)\b|\bthat came\b/gi, 'write: as received'],
  [/\bagain and again\b|\bnow and then\b|\bfor ever\b|\bfor good\b/gi, 'write: repeatedly, sometimes, permanently'],
  [/\bis not there\b/gi, 'write: is missing'],
  [/\bwhatever\b|\bbut for\b|\ball the same\b/gi, 'write what happens'],
  [/^What (?!is |are |does |do |if )[^?]*\.$/g, '"What …" as the subject: name the thing'],
];

/** A heading, a cell, or lines up to an empty one, a heading, a table or an item of a list. */
const PASSAGE =
  /(?<=^#+ ).*|(?<=^\|.*)[^|\n]+|^(?![#|])(?: *(?:[-*]|\d+\.) )?.*(?:\n(?!#|\||\s*\n| *(?:[-*] |\d+\. )).+)*/gm;

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

const root = join(import.meta.dirname, '..');
const findings = [...documents().flatMap(documentFindings), ...helpFindings()];
for (const finding of findings) process.stdout.write(`${finding}\n`);
if (findings.length > 0) process.exitCode = 1;

function documents(): readonly string[] {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages.map((name) => `docs/${name}`)];
}

function documentFindings(name: string): readonly string[] {
  const page = readFileSync(join(root, name), 'utf8');
  return markdownPassages(page).flatMap(({ text, index: start }) =>
    checkProse(text).map(({ index, message }) => {
      return `${name}:${page.slice(0, start + index).split('\n').length} ${message}`;
    }),
  );
}

function helpFindings(): readonly string[] {
  const ofCommands = createProgram()
    .all()
    .flatMap((command) => textsOf(command).map((text) => [`${command.fullName} --help`, text] as const));
  return ofCommands.flatMap(([page, text]) =>
    checkProse(text).map(({ message }) => `${page}: ${message}, in: ${text}`),
  );
}

function textsOf(command: CliCommand): readonly string[] {
  const described = [...command.registeredArguments, ...command.options];
  const texts = [command.summary(), command.description(), ...described.map(({ description }) => description)];
  const entries = command.parameters.map(({ text }) => text);
  return [...texts, ...entries, ...command.examples.map(({ comment }) => comment), ...command.notes];
}

interface ProseFinding {
  /** Start of the problem in the text. */
  readonly index: number;
  readonly message: string;
}

/** Checks the sentences of one passage. */
function checkProse(passage: string): readonly ProseFinding[] {
  return Array.from(sentences.segment(passage.replaceAll('\n', ' '))).flatMap(({ segment, index: start }) => {
    const sentence = segment.trimEnd();
    const words = sentence.match(/(?:^|\s)[^\s\p{P}\p{S}]*[\p{L}\p{N}]/gu)?.length ?? 0;
    const long = { index: start, message: `a sentence of ${words} words; at most ${LONGEST_SENTENCE}` };
    const phrases = PHRASES.flatMap(([phrase, advice]) =>
      Array.from(sentence.matchAll(phrase), ({ index, 0: found }) => {
        return { index: start + index, message: `"${found.trim()}": ${advice}` };
      }),
    );
    return [...(words > LONGEST_SENTENCE ? [long] : []), ...phrases];
  });
}

/** Text that is checked as a unit: a paragraph, a heading, an item of a list or a cell of a table. */
interface Passage {
  readonly text: string;
  /** Place of the first character in the page. */
  readonly index: number;
}

/**
 * The prose of a Markdown page. Code, link targets and markup are replaced by the same number of other characters, so
 * that all places stay the same. Definitions of links are removed completely: their titles are not sentences.
 */
function markdownPassages(markdown: string): readonly Passage[] {
  return Array.from(withoutMarks(markdown).matchAll(PASSAGE), ({ 0: text, index }) => {
    return { text: text.replace(/^ *(?:[-*]|\d+\.) /, blank), index };
  });
}

function withoutMarks(markdown: string): string {
  return (
    markdown
      .replace(/^( *)```.*?^\1```$/gms, blank)
      .replace(/<!--.*?-->/gs, blank)
      // A word in upper case, because a sentence can begin with code.
      .replace(/`[^`]+`/g, (code) => code.replace(/[^\n]/g, 'X'))
      .replace(/^\[[^\]]+\]: .*$/gm, blank)
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, (link, text: string) => ` ${text}`.padEnd(link.length))
      .replace(/\*+/g, blank)
  );
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
