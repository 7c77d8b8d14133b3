import { expect, test } from 'vitest';
import { wrap } from '../../../src/cli/terminal/text.ts';

test.each([
  ['one two three', ['one two', 'three']],
  ['one\ntwo', ['one', 'two']],
  ['- one two three\n- four', ['- one two', '  three', '- four']],
  ['1. one two three', ['1. one two', '   three']],
  ['a-word-of-its-own', ['a-word-of-its-own']],
])('%j has the lines %j at ten columns', (text, lines) => {
  expect(wrap(text, 10)).toEqual(lines);
});
