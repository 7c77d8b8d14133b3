import { expect, test } from 'vitest';
import { checkProse, markdownPassages } from '../../scripts/prose.ts';

test.each([
  ['The state is kept by nobody.', '"nobody": name the user, the process or the object'],
  ['The admin API wants a token.', '"wants": a program does not want: needs, requires, expects'],
  ['The value is no number.', '"is no": write: is not a …'],
  ['The request\ngoes on.', '"goes on": write: continues'],
  ['The file is not there.', '"is not there": write: is missing'],
  ['It asks again and again.', '"again and again": write: repeatedly, sometimes, permanently'],
  ['What a fault can only fake is refused.', expect.stringContaining('"What …" as the subject')],
  [`${'one two '.repeat(15)}ends.`, 'a sentence of 31 words; at most 30'],
])('reports a problem in: %s', (text, message) => {
  expect(checkProse(text).map((finding) => finding.message)).toEqual([message]);
});

test.each([
  'Acquire a permit. The maximum is 30.',
  'There is no default. A call is no longer retried.',
  'What does the client do? It waits.',
  `${'one two '.repeat(14)}ends. ${'One two '.repeat(15)}.`,
])('accepts: %s', (text) => {
  expect(checkProse(text)).toEqual([]);
});

test('separates paragraphs, list items and table cells, each with its line, without code', () => {
  const page = [
    '# Title',
    'A paragraph with `code in it`',
    'on [two](lines.md#x) lines.',
    '- an item',
    '  of a list',
    '',
    '| cell | **other** |',
    '|---|---|',
    '',
    '```sh',
    'npm test',
    '```',
  ].join('\n');

  const passages = markdownPassages(page).map(({ text, line }) => [line, text.replace(/\s+/g, ' ').trim()]);

  expect(passages).toEqual([
    [1, 'Title'],
    [2, expect.stringMatching(/^A paragraph with X{12} on two lines\.$/)],
    [4, 'an item of a list'],
    [7, 'cell'],
    [7, 'other'],
  ]);
});
