import { tokens } from '../json-tokens.ts';

/** Type of the numbers in the data: `'number'`, with about 16 digits, or `'string'`, with all digits. */
export type Numbers = 'number' | 'string';

/** `Data` with its numbers as the client's option `numbers` says. */
export type WithNumbers<Data, Chosen extends Numbers> = Chosen extends 'string' ? TextNumbers<Data> : Data;

/** For the compiler, an open enumeration such as `'free' | (string & {})` is both a string and an object. */
type TextNumbers<Data> = Data extends string
  ? Data
  : Data extends number
    ? string
    : Data extends object
      ? { readonly [Name in keyof Data]: TextNumbers<Data[Name]> }
      : Data;

/** The `data` of an envelope, which is valid JSON, with each number as a string of all its digits. */
export function dataWithTextNumbers(envelope: string): unknown {
  const parts: string[] = [];
  let copied = 0;
  for (const { kind, start, end } of tokens(envelope)) {
    if (kind !== 'number') continue;
    parts.push(envelope.slice(copied, start), `"${envelope.slice(start, end)}"`);
    copied = end;
  }
  const text = [...parts, envelope.slice(copied)].join('');
  return (JSON.parse(text) as { readonly data: unknown }).data; // the caller has checked it
}
