import { expect, test } from 'vitest';
import { type ColorWhen, Screen, usesColor } from '../../../src/cli/terminal/screen.ts';
import { besideHead, clip, wrap } from '../../../src/cli/terminal/text.ts';
import { visible } from '../../../src/text.ts';
import { FakeIo } from '../../helpers/cli-io.ts';

interface Case {
  readonly when: ColorWhen;
  readonly isTTY: boolean;
  readonly env: Record<string, string | undefined>;
}

/** The rules of the specification as a list, of which the first applicable one counts. */
const RULES: readonly (readonly [(of: Case) => boolean, boolean])[] = [
  [({ when }) => when === 'never', false],
  [({ when }) => when === 'always', true],
  [({ env }) => env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '', false],
  [({ env }) => env['FORCE_COLOR'] === '0' || env['FORCE_COLOR'] === 'false', false],
  [({ env }) => ['1', '2', '3', 'true'].includes(env['FORCE_COLOR'] ?? ''), true],
  [({ env }) => env['CLICOLOR_FORCE'] === '1', true],
  [({ env }) => env['CLICOLOR'] === '0', false],
  [({ env }) => env['TERM'] === 'dumb', false],
  [({ isTTY }) => !isTTY, false],
  [() => true, true],
];

const VALUES: Readonly<Record<string, readonly (string | boolean | undefined)[]>> = {
  when: ['auto', 'always', 'never'],
  isTTY: [true, false],
  NO_COLOR: [undefined, '', '1'],
  FORCE_COLOR: [undefined, '', '0', 'false', '1', '3', 'true'],
  CLICOLOR: [undefined, '0', '1'],
  CLICOLOR_FORCE: [undefined, '', '0', '1'],
  TERM: [undefined, 'dumb', 'xterm', 'xterm-256color'],
};

function everyCase(): Case[] {
  let combinations: Record<string, unknown>[] = [{}];
  for (const [name, values] of Object.entries(VALUES)) {
    combinations = combinations.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value })));
  }
  return combinations.map(({ when, isTTY, ...env }) => ({ when, isTTY, env }) as Case);
}

test('every combination of flag, variables and stream follows the first rule that applies', () => {
  const cases = everyCase();
  for (const of of cases) {
    const rule = RULES.find(([applies]) => applies(of));
    const hasColor = usesColor(of);
    if (hasColor !== rule?.[1]) expect.fail(`${hasColor} for ${JSON.stringify(of)}`);
  }
  expect(cases).toHaveLength(3 * 2 * 3 * 7 * 3 * 4 * 4);
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
