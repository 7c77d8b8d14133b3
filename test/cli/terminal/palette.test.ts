import { expect, test } from 'vitest';
import { type ColorLevel, type ColorWhen, colorLevel } from '../../../src/cli/terminal/palette.ts';

interface Case {
  readonly when: ColorWhen;
  readonly isTTY: boolean;
  readonly isForMachines: boolean;
  readonly env: Record<string, string | undefined>;
}

/** The rules of the specification as a list: the first that applies decides. */
const RULES: readonly (readonly [(of: Case) => boolean, (of: Case) => ColorLevel])[] = [
  [({ when }) => when === 'never', () => 0],
  [({ when }) => when === 'always', (of) => atLeastOne(of)],
  [({ isForMachines, isTTY }) => isForMachines && !isTTY, () => 0],
  [({ env }) => env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '', () => 0],
  [({ env }) => env['FORCE_COLOR'] === '0' || env['FORCE_COLOR'] === 'false', () => 0],
  [
    ({ env }) => ['1', '2', '3'].includes(env['FORCE_COLOR'] ?? ''),
    ({ env }) => Number(env['FORCE_COLOR']) as ColorLevel,
  ],
  [({ env }) => env['FORCE_COLOR'] === 'true', (of) => atLeastOne(of)],
  [({ env }) => env['CLICOLOR_FORCE'] === '1', (of) => atLeastOne(of)],
  [({ env }) => env['CLICOLOR'] === '0', () => 0],
  [({ env }) => env['TERM'] === 'dumb', () => 0],
  [({ isTTY }) => !isTTY, () => 0],
  [() => true, (of) => atLeastOne(of)],
];

function atLeastOne({ env }: Case): ColorLevel {
  if (env['TERM'] === 'dumb') return 1;
  if (env['COLORTERM'] === 'truecolor') return 3;
  return env['TERM'] === 'xterm-256color' ? 2 : 1;
}

const VALUES: Readonly<Record<string, readonly (string | boolean | undefined)[]>> = {
  when: ['auto', 'always', 'never'],
  isTTY: [true, false],
  isForMachines: [true, false],
  NO_COLOR: [undefined, '', '1'],
  FORCE_COLOR: [undefined, '', '0', 'false', '1', '3', 'true'],
  CLICOLOR: [undefined, '0', '1'],
  CLICOLOR_FORCE: [undefined, '', '0', '1'],
  TERM: [undefined, 'dumb', 'xterm', 'xterm-256color'],
  COLORTERM: [undefined, 'truecolor'],
};

function everyCase(): Case[] {
  let combinations: Record<string, unknown>[] = [{}];
  for (const [name, values] of Object.entries(VALUES)) {
    combinations = combinations.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value })));
  }
  return combinations.map(({ when, isTTY, isForMachines, ...env }) => ({ when, isTTY, isForMachines, env }) as Case);
}

test('every combination of flag, variables and stream follows the first rule that applies', () => {
  const cases = everyCase();
  for (const of of cases) {
    const rule = RULES.find(([applies]) => applies(of));
    const level = colorLevel(of);
    if (level !== rule?.[1](of)) expect.fail(`level ${level} for ${JSON.stringify(of)}`);
  }
  expect(cases).toHaveLength(3 * 2 * 2 * 3 * 7 * 3 * 4 * 4 * 2);
});
