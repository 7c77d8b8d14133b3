import fc from 'fast-check';

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '  ');
const digits = fc.stringMatching(/^[0-9]{1,25}$/);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,20}$/)),
    fc.option(digits, { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'), fc.stringMatching(/^[0-9]{1,2}$/)), {
      nil: undefined,
    }),
  )
  .map(([sign, whole, fraction, exponent]) => {
    return `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent === undefined ? '' : exponent.join('')}`;
  });
const character = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 3 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom('\\"', '\\\\', '\\/', '\\u00e9', '\\ud800', '\\n', ...'{}[]:,./~\u009b\u202e'),
);
const string = fc.array(character, { maxLength: 6 }).map((parts) => `"${parts.join('')}"`);
/** A few names, so that they repeat; some look like integers, some like paths. */
const name = fc.oneof(
  string,
  fc.constantFrom('"a"', '"b"', '"10"', '"2"', '"a.b"', '"a/b"', '""', '"\\u0061"', '"__proto__"'),
);
const literal = fc.constantFrom('true', 'false', 'null');

/** JSON texts with any number form, escapes, white space, repeated names and deep nesting. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, number, string, literal, tie('list'), tie('object')),
  list: listOf(tie('value'), '[', ']'),
  object: listOf(
    fc.tuple(name, space, space, tie('value')).map(([key, before, after, value]) => `${key}${before}:${after}${value}`),
    '{',
    '}',
  ),
})).value;

function listOf(item: fc.Arbitrary<string>, open: string, close: string): fc.Arbitrary<string> {
  return fc.tuple(space, fc.array(fc.tuple(item, space, space), { maxLength: 5 })).map(([inner, items]) => {
    return `${open}${inner}${items.map(([text, before, after]) => `${before}${text}${after}`).join(',')}${close}`;
  });
}

/** Removes white space between tokens in another way than the code under test. */
export function stripped(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|\s+/gs, (part) => (part.startsWith('"') ? part : ''));
}
