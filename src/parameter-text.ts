import type { Parameter } from './generated/operations.ts';

type Scalar = string | number | boolean;

/**
 * The value that a text stands for: what one types on the command line, or what a URL has. Text that is no value of the
 * parameter stays text, and the schema of the parameter refuses it.
 */
export function parseParameterText(text: string, { types, choices = [] }: Parameter): Scalar {
  const choice = choices.find((value) => String(value) === text);
  if (choice !== undefined) return choice;
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumeric = types.includes('integer') || types.includes('number');
  const number = Number(text);
  if (!isNumeric || !NUMBER.test(text) || !isExact(text, number)) return text;
  // Where text is valid, too, digits such as 007 may be a code.
  return types.includes('string') && String(number) !== text ? text : number;
}

/** The values of a list: `EUR,GBP` is two. */
export function splitList(text: string): readonly string[] {
  return text.split(',');
}

/** As JSON has them, with leading zeros and a plus sign besides; not what JavaScript also reads, such as 0x10. */
const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A double keeps 15 digits of any number. More are kept if they are written back the same. */
function isExact(text: string, number: number): boolean {
  const digits = text
    .replace(/[eE].*/, '')
    .replaceAll(/\D/g, '')
    .replace(/^0+/, '');
  return Number.isFinite(number) && (digits.length <= 15 || String(number) === text);
}
