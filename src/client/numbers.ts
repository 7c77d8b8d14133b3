import { tokens } from '../json-tokens.ts';

/**
 * Converts a number of the data from its text.
 *
 * @param text exactly as the service sent it, such as `1.10` or `1e-7`
 * @param path names and positions from the data to the number, such as `['rates', 'EUR']`. The array is reused: copy it to
 *   keep it.
 * @example (text) => new Decimal(text)
 */
export type NumberParser<Value = unknown> = (text: string, path: readonly (string | number)[]) => Value;

/** Type of the numbers in the data: `'number'`, `'string'` (with all digits), or the result of a function. */
export type Numbers = 'number' | 'string' | NumberParser;

/**
 * Gives `text` and `path` their types in `numbers: (text, path) => …`. The optional property distinguishes it from
 * `NumberParser`, so that the compiler still infers the result type of the function.
 */
export interface InlineParser extends NumberParser {
  readonly [inline]?: never;
}

declare const inline: unique symbol;

/** The option `numbers` of a client or a call. */
export interface NumbersOption<Chosen extends Numbers | undefined = Numbers | undefined> {
  /**
   * Type of the numbers in the data. `'number'`: JavaScript numbers, with about 16 digits. `'string'`: strings with all digits.
   * A function converts each number from its text; an error that it throws rejects the call unchanged. The response is
   * checked against the contract before the conversion, and a `schema` receives the converted data.
   *
   * @default 'number'
   * @example (text) => new Decimal(text)
   */
  readonly numbers?: Chosen | undefined;
}

/** `Data` with its numbers converted. `Default` is the client's option, for a call without `numbers`. */
export type WithNumbers<
  Data,
  Chosen extends Numbers | undefined,
  Default extends Numbers = 'number',
> = Chosen extends undefined
  ? WithNumbers<Data, Default>
  : Chosen extends 'string'
    ? ReplaceNumbers<Data, string>
    : Chosen extends NumberParser<infer Value>
      ? ReplaceNumbers<Data, Value>
      : Data;

/** For the compiler, an open enumeration such as `'free' | (string & {})` is both a string and an object. */
type ReplaceNumbers<Data, Value> = Data extends string
  ? Data
  : Data extends number
    ? Value
    : Data extends object
      ? { readonly [Name in keyof Data]: ReplaceNumbers<Data[Name], Value> }
      : Data;

/** The `data` of an envelope, which is valid JSON, with each number in the form of `numbers`. */
export function parseData(envelope: string, numbers: 'string' | NumberParser): unknown {
  if (numbers === 'string') return dataOf(replaceNumbers(envelope, (lexeme) => `"${lexeme}"`));
  const lexemes: string[] = [];
  // Each number is replaced by its index in the list, so that no text can be mistaken for a number.
  const numbered = replaceNumbers(envelope, (lexeme) => String(lexemes.push(lexeme) - 1));
  return convertNumbers(dataOf(numbered), (place, path) => numbers(lexemes[place] ?? '', path));
}

function dataOf(envelope: string): unknown {
  return (JSON.parse(envelope) as { readonly data: unknown }).data; // the caller has checked it
}

function replaceNumbers(text: string, replacement: (lexeme: string) => string): string {
  const parts: string[] = [];
  let copied = 0;
  for (const { kind, start, end } of tokens(text)) {
    if (kind !== 'number') continue;
    parts.push(text.slice(copied, start), replacement(text.slice(start, end)));
    copied = end;
  }
  return [...parts, text.slice(copied)].join('');
}

type Container = Record<string | number, unknown>;

interface Frame {
  readonly container: Container;
  readonly names: readonly (string | number)[];
  next: number;
}

/** Replaces each number in place, with its own stack: the depth of the data is not limited. */
function convertNumbers(
  data: unknown,
  convert: (place: number, path: readonly (string | number)[]) => unknown,
): unknown {
  if (typeof data === 'number') return convert(data, []);
  const path: (string | number)[] = [];
  const frames = isContainer(data) ? [frameOf(data)] : [];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const name = frame.names[frame.next];
    frame.next += 1;
    if (name === undefined) {
      frames.pop();
      path.pop();
      continue;
    }
    const value = frame.container[name];
    path.push(name);
    if (isContainer(value)) {
      frames.push(frameOf(value));
      continue;
    }
    if (typeof value === 'number') frame.container[name] = convert(value, path);
    path.pop();
  }
  return data;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

function frameOf(container: Container): Frame {
  return { container, names: Array.isArray(container) ? [...container.keys()] : Object.keys(container), next: 0 };
}
