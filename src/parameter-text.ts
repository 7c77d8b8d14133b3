import type { Parameter } from './generated/operations.ts';

type Scalar = string | number | boolean;

/**
 * Converts a text of the command line or of a URL to a value of the parameter. An invalid text is returned unchanged, so
 * that the schema of the parameter rejects it.
 */
export function parseParameterText(text: string, { types, choices = [] }: Parameter): Scalar {
  const choice = choices.find((value) => String(value) === text);
  if (choice !== undefined) return choice;
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumeric = types.includes('integer') || types.includes('number');
  const number = Number(text);
  if (!isNumeric || !NUMBER.test(text) || !isExact(text, number)) return text;
  // If text is valid too, digits such as 007 can be a code.
  return types.includes('string') && String(number) !== text ? text : number;
}

/** The values of a list: `EUR,GBP` is two. */
export function splitList(text: string): readonly string[] {
  return text.split(',');
}

/** The numbers of JSON, also with leading zeros and a plus sign, but not other numbers of JavaScript, such as 0x10. */
const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A double has 15 exact digits. A longer number is exact if it is printed in the same way. */
function isExact(text: string, number: number): boolean {
  const digits = text
    .replace(/[eE].*/, '')
    .replaceAll(/\D/g, '')
    .replace(/^0+/, '');
  return Number.isFinite(number) && (digits.length <= 15 || String(number) === text);
}
