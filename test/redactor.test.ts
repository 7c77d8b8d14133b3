import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMockServer } from '../src/mock-server/index.ts';
import { holdsKey, maskKeysIn, Redactor, redactKeys, secretRedactor } from '../src/redactor.ts';
import { KEY_ENCODINGS, KNOWN_KEY_ENCODINGS } from './helpers/key-encodings.ts';

const KEY = `fx_live_${'ca11ab1e'.repeat(5)}0f1e9c2d`;
const ODD_KEY = 'canary+/=&%?#"\\\'~!\'*()0b6d93f25e8072b9c4d1+/="\\635';
const SECRET_PART = KEY.slice(12, -4);

test.each(Object.entries(KNOWN_KEY_ENCODINGS))('a known key %s is masked', (_, encode) => {
  const ofCommand = new Redactor();
  ofCommand.protect(KEY);
  const encoded = encode(KEY);
  const middle = encoded.slice(16, -16);

  for (const redacted of [
    secretRedactor(KEY)(`before ${encoded} after`),
    ofCommand.redact(`before ${encoded} after`),
    ofCommand.redactMessage(`before ${encoded} after`),
  ]) {
    expect(redacted).not.toContain(middle);
    expect(redacted).not.toContain(SECRET_PART);
    expect(redacted).toMatch(/^before .*….* after$/);
  }
});

test.each(Object.entries(KNOWN_KEY_ENCODINGS))('a known key of another form %s is masked', (_, encode) => {
  const encoded = encode(ODD_KEY);

  expect(secretRedactor(ODD_KEY)(encoded)).not.toContain(encoded.slice(8, -8));
});

const recognisable = Object.entries(KEY_ENCODINGS).filter(([name]) => name !== 'without its prefix');

test.each(recognisable)('a key that is in no setting is recognised %s', (name, encode) => {
  const encoded = encode(KEY);
  const middle = encoded.slice(Math.floor(0.4 * encoded.length), Math.floor(0.6 * encoded.length));

  expect(holdsKey(encoded)).toBe(true);
  expect(new Redactor().redact(encoded)).not.toContain(middle);
  expect(redactKeys(encoded)).not.toContain(middle);
  if (!name.includes('each character')) expect(maskKeysIn(encoded)).not.toContain(SECRET_PART);
});

test.each(recognisable)('the journal of the mock has no key %s', async (_, encode) => {
  const mock = createMockServer();
  const encoded = encode(KEY);
  const body = JSON.stringify({ note: encoded });

  await mock.fetch(`${mock.baseUrl}/api/v1/latest?note=${/[&#]/.test(encoded) ? '' : encoded}`, {
    method: 'POST',
    body,
  });

  const text = JSON.stringify(mock.journal.list());
  expect(text).toContain('_live_…');
  expect(text).not.toContain(SECRET_PART);
  await mock.close();
});

test.each([
  'eur_live_rates',
  'a=5&b=%5f&c=\\u005f',
  '%'.repeat(100_000),
  '\\'.repeat(100_000),
  '_live_'.repeat(10_000),
  `&#x${'0'.repeat(100_000)}`,
])('a text without a key is unchanged, however long: %#', (text) => {
  expect([secretRedactor(KEY)(text), maskKeysIn(text), redactKeys(text), new Redactor().redact(text)]).toEqual(
    Array(4).fill(text),
  );
});

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
/** Ways to encode a character, with the one that each always encodes. */
const CODES: readonly [own: string, encode: (character: string) => string][] = [
  ['%', (character) => `%${hex(character)}`],
  ['%', (character) => `%25${hex(character).toUpperCase()}`],
  ['\\', (character) => `\\u00${hex(character)}`],
  ['\\', (character) => (/\W/.test(character) ? `\\${character}` : character)],
  ['&', (character) => `&#${character.charCodeAt(0)};`],
  ['&', (character) => `&#x${hex(character)};`],
  ['=', (character) => `=${hex(character).toUpperCase()}`],
];

/** In a key, such as `\x2f`: with some of its characters encoded, the text has several readings. */
const HAS_OWN_CODE = /%[2-7][0-9a-f]|\\+(u00|x)|&(#|\w+;)|=[2-7][0-9a-f]/i;

test('a key of any characters, some of which are encoded, is masked wherever it stands', () => {
  const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  const key = fc.array(character, { minLength: 24, maxLength: 60 }).map((characters) => characters.join(''));
  const run = fc.tuple(
    key,
    fc.constantFrom(...CODES),
    fc.array(character),
    fc.constantFrom('', 'api_key=', '"', 'x%20'),
  );

  fc.assert(
    fc.property(run, ([secret, [own, encode], others, before]) => {
      const isEncoded = (one: string) => one === own || others.includes(one) || HAS_OWN_CODE.test(secret);
      const encoded = (one: string) => (isEncoded(one) ? encode(one) : one);
      const text = Array.from(secret, encoded).join('');

      const redacted = secretRedactor(secret)(`${Array.from(before, encoded).join('')}${text} after`);

      expect(redacted).not.toContain(text.slice(8, -8));
      expect(redacted).toContain(' after');
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ['fx_live_0123456789/abcdefghij', '0123456789%2Fabcdefghij', 'fx_live_…ghij'], // without its prefix
  ['fx-eu_1_live_0123456789abcdefghij', '0123456789abcdefghij', 'fx-eu_1_live_…ghij'],
  [`%20${'!'.repeat(24)}`, `before %25${`20${'!'.repeat(24)}`} after`, 'before …!!!! after'], // the code of a space
  ['\\'.repeat(20), 'a \\" b', 'a \\" b'],
  ['test', 'latest of test', 'latest of test'],
  ['my-team-secret-0123456789$&', 'my-team-secret-0123456789$& is wrong', '…89$& is wrong'], // of `replace`
])('the key %j in the text %j leaves %j', (key, text, expected) => {
  expect(secretRedactor(key)(text)).toBe(expected);
});

test('the shortest text that holds a key has no prefix', () => {
  expect(holdsKey(`_live_${'0a'.repeat(24)}`)).toBe(true);
  expect(holdsKey(`_live_${'0a'.repeat(24)}`.slice(0, -1))).toBe(false);
});
