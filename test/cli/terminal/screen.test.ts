import { expect, test } from 'vitest';
import { type ColorWhen, Screen, usesColor } from '../../../src/cli/terminal/screen.ts';
import { besideHead, clip, wrap } from '../../../src/cli/terminal/text.ts';
import { visible } from '../../../src/text.ts';
import { FakeIo } from '../../helpers/cli-io.ts';

test.each<[ColorWhen, isTTY: boolean, Record<string, string>, boolean]>([
  ['never', true, { FORCE_COLOR: '1' }, false],
  ['always', false, { NO_COLOR: '1', TERM: 'dumb' }, true],
  ['auto', true, { NO_COLOR: '1', FORCE_COLOR: '1', CLICOLOR_FORCE: '1' }, false],
  ['auto', true, { FORCE_COLOR: '0', CLICOLOR_FORCE: '1' }, false],
  ['auto', true, { FORCE_COLOR: 'false' }, false],
  ['auto', false, { NO_COLOR: '', FORCE_COLOR: 'true', CLICOLOR: '0' }, true],
  ['auto', false, { FORCE_COLOR: '3', TERM: 'dumb' }, true],
  ['auto', false, { FORCE_COLOR: '', CLICOLOR_FORCE: '1', CLICOLOR: '0', TERM: 'dumb' }, true],
  ['auto', false, { CLICOLOR_FORCE: '0' }, false],
  ['auto', false, { CLICOLOR_FORCE: '' }, false],
  ['auto', true, { CLICOLOR: '0' }, false],
  ['auto', true, { TERM: 'dumb' }, false],
  ['auto', true, { CLICOLOR: '1', TERM: 'xterm' }, true],
  ['auto', false, {}, false],
])('--color %s on a terminal (%s) with %j has colours: %s', (when, isTTY, env, hasColor) => {
  expect(usesColor({ when, isTTY, env })).toBe(hasColor);
});

test.each([
  ['an escape sequence', 'a\u001b[31mb', 'a\\u001b[31mb'],
  ['a title change', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007'],
  ['an 8-bit control sequence', '\u009b31m', '\\u009b31m'],
  ['a change of direction', 'EUR\u202e01.1', 'EUR\\u202e01.1'],
  ['an invisible character', 'E\u200bUR\ufeff', 'E\\u200bUR\\ufeff'],
  ['a tag character', '\u{e0041}', '\\udb40\\udc41'],
  ['a carriage return that would overwrite the line', 'good\rbad', 'good\\u000dbad'],
  ['a line separator', 'a\u2028b', 'a\\u2028b'],
])('%s is shown escaped', (_, text, expected) => {
  expect(visible(text)).toBe(expected);
});

test('letters, digits, line breaks and tabs are unchanged', () => {
  expect(visible('€ 1.10\té漢😀\r\nnext\n')).toBe('€ 1.10\té漢😀\nnext\n');
});

test('the width is that of the terminal now, which can be resized during a batch', () => {
  const io = new FakeIo({ tty: ['stderr'], columns: 100 });
  const { err } = new Screen(io, { color: 'never', quiet: 0, output: 'auto', verbose: 0 });

  Object.assign(io.stderr, { columns: 45 });

  expect([err.columns, err.width]).toEqual([45, 45]);
});

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
