import { Chalk } from 'chalk';
import type { Io } from '../io.ts';

/** Colours of one stream: none, 16, 256 or 16 million. */
export type ColorLevel = 0 | 1 | 2 | 3;
export type ColorWhen = 'auto' | 'always' | 'never';

interface ColorQuestion {
  readonly when: ColorWhen;
  readonly env: Io['env'];
  readonly isTTY: boolean;
  /** Whether a program is meant to read the stream: then only `--color=always` brings colour when it is no terminal. */
  readonly isForMachines?: boolean;
}

/** The first rule that applies decides; NO_COLOR beats FORCE_COLOR, as in npm and commander. */
export function colorLevel({ when, env, isTTY, isForMachines = false }: ColorQuestion): ColorLevel {
  if (when === 'never') return 0;
  if (when === 'always') return Math.max(1, depth(env)) as ColorLevel;
  if (isForMachines && !isTTY) return 0;
  return fromEnvironment(env) ?? (isTTY ? depth(env) : 0);
}

function fromEnvironment(env: ColorQuestion['env']): ColorLevel | undefined {
  const { NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM } = env;
  if (NO_COLOR) return 0;
  if (FORCE_COLOR) return forcedLevel(FORCE_COLOR, env);
  if (CLICOLOR_FORCE && CLICOLOR_FORCE !== '0') return Math.max(1, depth(env)) as ColorLevel;
  return CLICOLOR === '0' || TERM === 'dumb' ? 0 : undefined;
}

function forcedLevel(value: string, env: ColorQuestion['env']): ColorLevel {
  if (value === '0' || value === 'false') return 0;
  if (value === '1' || value === '2' || value === '3') return Number(value) as ColorLevel;
  return Math.max(1, depth(env)) as ColorLevel;
}

function depth({ COLORTERM, TERM }: ColorQuestion['env']): ColorLevel {
  if (TERM === 'dumb') return 0;
  if (COLORTERM === 'truecolor' || COLORTERM === '24bit') return 3;
  return TERM?.includes('256') ? 2 : 1;
}

type Paint = (text: string) => string;

/** What text is, not how it looks; 16 colours, so that every terminal theme can show them. */
export interface Palette {
  readonly heading: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly warning: Paint;
  readonly failure: Paint;
  readonly command: Paint;
  readonly name: Paint;
  readonly string: Paint;
}

export function createPalette(level: ColorLevel): Palette {
  const chalk = new Chalk({ level });
  return {
    heading: chalk.bold,
    faint: chalk.dim,
    good: chalk.green,
    warning: chalk.yellow,
    failure: chalk.red,
    command: chalk.cyan,
    name: chalk.blue,
    string: chalk.green,
  };
}
