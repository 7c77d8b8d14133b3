import { styleText } from 'node:util';
import type { Io } from '../io.ts';

export type ColorWhen = 'auto' | 'always' | 'never';

interface ColorQuestion {
  readonly when: ColorWhen;
  readonly env: Io['env'];
  readonly isTTY: boolean;
  /** Whether programs read the stream. If it is not a terminal, only `--color=always` then enables colour. */
  readonly isForMachines?: boolean;
}

/** The first rule that applies decides; NO_COLOR beats FORCE_COLOR, as in npm and commander. */
export function usesColor({ when, env, isTTY, isForMachines = false }: ColorQuestion): boolean {
  if (when !== 'auto') return when === 'always';
  if (isForMachines && !isTTY) return false;
  const { NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM } = env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (CLICOLOR_FORCE && CLICOLOR_FORCE !== '0') return true;
  return isTTY && CLICOLOR !== '0' && TERM !== 'dumb';
}

/** Styles by the meaning of the text. They use 16 colours, which every terminal theme defines. */
export type Palette = Readonly<ReturnType<typeof createPalette>>;

export function createPalette(hasColor: boolean) {
  const style = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    hasColor && text !== '' ? styleText(format, text, { validateStream: false }) : text;
  return {
    heading: style('bold'),
    faint: style('dim'),
    good: style('green'),
    warning: style('yellow'),
    failure: style('red'),
    command: style('cyan'),
    name: style('blue'),
    string: style('green'),
  };
}
