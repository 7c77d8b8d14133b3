import { Chalk } from 'chalk';
import type { ColorLevel } from './color-level.ts';

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
