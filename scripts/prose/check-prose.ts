import writeGood from 'write-good';

interface ProseFinding {
  /** Start of the problem in the text. */
  readonly index: number;
  readonly message: string;
}

/** Longest sentence, in words. */
const LONGEST_SENTENCE = 30;

/** Words that write-good calls wordy, but that are technical terms or have no shorter synonym. */
const TERMS = [
  'a number of',
  'acquire',
  'additional',
  'all of',
  'alternatively',
  'authorize',
  'equivalent',
  'evaluate',
  'expiration',
  'implement',
  'it is',
  'it was',
  'maximum',
  'minimum',
  'multiple',
  'requirement',
  'therefore',
  'type of',
  'validate',
];

/** Phrases that write-good does not know, with advice. */
const PHRASES: readonly (readonly [phrase: RegExp, advice: string])[] = [
  [/\b(?:no|any|some)body\b|\bwhoever\b|\bsomeone\b|\banyone\b/gi, 'name the user, the process or the object'],
  [/\bone (?:has|gets|can|needs|wants|must|may|should|would)\b/gi, 'name the user, the process or the object'],
  [/(?<!you |users |\bI )\bwants?\b/gi, 'a program does not want: needs, requires, expects'],
  [/(?<!\bthere )\b(?:is|are) no (?!longer|more|less|further|other)/gi, 'write: is not a …'],
  [/\btells?\b(?! \w+ apart\b)|\bis told\b|\btold by\b/gi, 'write: reports, shows, says'],
  [/\bgo(?:es)? on\b(?! to\b)|\bon (?:its|their) way\b/gi, 'write: continues'],
  [/\b(?:anew|lest|ought|thereof|wherein|hither|betide|astray)\b/gi, 'use a plain word, such as "again"'],
  [/\bkeeps? (?:the |its |their )?books\b|\bbears?\b|\bmends?\b|\blives? to\b/gi, 'use a standard verb'],
  [/\bas it (?:came|comes)\b|\bthat came\b/gi, 'write: as received'],
  [/\bagain and again\b|\bnow and then\b|\bfor ever\b|\bfor good\b/gi, 'write: repeatedly, sometimes, permanently'],
  [/\b(?:that (?:is|are)|is not|are not) there\b/gi, 'write: exists, is missing'],
  [/\bwhatever\b|\bbut for\b|\ball the same\b|\bof its own accord\b|\bso to speak\b/gi, 'write what happens'],
];

/** Checks one passage with write-good and with the rules of this project. */
export function checkProse(passage: string): readonly ProseFinding[] {
  const text = passage.replaceAll('\n', ' ');
  return [...usualFindings(text), ...phraseFindings(text), ...sentenceFindings(text)].sort((a, b) => a.index - b.index);
}

/** Repeated words, wordiness, clichés. The other checks of write-good report more correct text than errors. */
function usualFindings(text: string): readonly ProseFinding[] {
  const off = { weasel: false, so: false, thereIs: false, passive: false, adverb: false, eprime: false };
  // write-good does not recognise a whitelisted term at the start of the text.
  const suggestions = writeGood(` ${text}`, { ...off, whitelist: TERMS.flatMap((term) => [term, capitalized(term)]) });
  return suggestions.map(({ index, reason }) => ({ index: index - 1, message: reason }));
}

function capitalized(term: string): string {
  return term.charAt(0).toUpperCase() + term.slice(1);
}

function phraseFindings(text: string): readonly ProseFinding[] {
  return PHRASES.flatMap(([phrase, advice]) =>
    Array.from(text.matchAll(phrase), ({ index, 0: found }) => ({ index, message: `"${found.trim()}": ${advice}` })),
  );
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

function sentenceFindings(text: string): readonly ProseFinding[] {
  return Array.from(sentences.segment(text), ({ segment, index }) => ({ segment: segment.trim(), index })).flatMap(
    ({ segment, index }) => {
      const count = segment.match(/(?:^|\s)[^\s\p{P}\p{S}]*[\p{L}\p{N}]/gu)?.length ?? 0;
      const isLong = count > LONGEST_SENTENCE;
      const isHeadless = /^What (?!is |are |does |do |if )[^?]*\.$/.test(segment);
      return [
        ...(isLong ? [{ index, message: `a sentence of ${count} words; at most ${LONGEST_SENTENCE}` }] : []),
        ...(isHeadless ? [{ index, message: '"What …" as the subject: name the thing' }] : []),
      ];
    },
  );
}
