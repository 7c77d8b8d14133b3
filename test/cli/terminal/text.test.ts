import { expect, test } from 'vitest';
import { besideHead, clip, wrap } from '../../../src/cli/terminal/text.ts';

test.each([
  ['one two three', ['one two', 'three']],
  ['one\ntwo', ['one', 'two']],
  ['- one two three\n- four', ['- one two', '  three', '- four']],
  ['1. one two three', ['1. one two', '   three']],
  ['a-word-of-its-own', ['a-word-of-its-own']],
])('%j has the lines %j at ten columns', (text, lines) => {
  expect(wrap(text, 10)).toEqual(lines);
});

test.each([
  ['one two', 3, 'one'],
  ['\u001b[1mone two\u001b[22m', 5, '\u001b[1mone t\u001b[22m'],
  ['€🙂x', 2, '€🙂'],
  ['one', 0, ''],
])('%j has the start %j %j', (text, width, start) => {
  expect(clip(text, width)).toBe(start);
});

test('a blank line beside a head has no spaces', () => {
  expect(besideHead('--head  ', ['one', '', 'two'], 8)).toEqual(['--head  one', '', '        two']);
});
