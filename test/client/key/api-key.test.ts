import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiKey } from '../../../src/client/key/api-key.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

/** Anything that can stand in a header, except in quotes, which are refused. */
function anySecret(): fc.Arbitrary<string> {
  const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  return fc.string({ unit: character, minLength: 1, maxLength: 60 }).filter((text) => !/^(['"]).*\1$/.test(text));
}

test.each([
  [API_KEY, 'fx_live_…cdef'],
  [`other0_live_${'a'.repeat(48)}`, 'other0_live_…aaaa'],
  ['0123456789abcdef', '…cdef'],
  ['+fx_live_0123456789abcdef', '…cdef'],
  ['fx_live_0123456789abcdef', 'fx_live_…cdef'],
  ['fx_live_0123456789abcde', '…'],
  ['short', '…'],
])('%s is shown as %s', (secret, masked) => {
  expect(ApiKey.from(secret).masked).toBe(masked);
});

test('every way to print a key prints its mask', () => {
  const key = ApiKey.from(API_KEY);

  const prints = [String(key), `${key}`, JSON.stringify({ key }), inspect(key), inspect({ key }, { showHidden: true })];

  expect(prints.join('\n')).not.toContain('0123456789');
  for (const print of prints.slice(0, 4)) expect(print).toContain('fx_live_…cdef');
  expect(inspect(key, { customInspect: false, showHidden: true, depth: 10 })).not.toContain('89abcdef01');
  expect(key.reveal()).toBe(API_KEY);
});

test('a mask shows at most four characters of the secret part', () => {
  fc.assert(
    fc.property(anySecret(), (secret) => {
      const { masked } = ApiKey.from(secret);

      const shown = masked.split('…')[1] ?? '';
      expect(shown.length).toBeLessThanOrEqual(4);
      expect(secret.length >= 16 || masked === '…').toBe(true);
    }),
  );
});

test.each([
  ['', 'is empty'],
  [`Bearer ${API_KEY}`, "starts with 'Bearer '"],
  [`bearer\t${API_KEY}`, "starts with 'Bearer '"],
  [`"${API_KEY}"`, 'is in quotes'],
  [`'${API_KEY}'`, 'is in quotes'],
  [`${API_KEY}\n`, 'starts or ends with white space'],
  [`${API_KEY}\r\n`, 'starts or ends with white space'],
  [` ${API_KEY}`, 'starts or ends with white space'],
  [`${API_KEY}\nx-injected: yes`, 'has several lines'],
  [' \n', 'has only white space'],
  [`FXRATES_API_KEY=${API_KEY}`, 'is a line of an env file'],
  ['a'.repeat(4097), 'has more than 4096 characters'],
  [`${API_KEY}é`, 'characters that are not valid in a key'],
  [`${API_KEY}\u0000`, 'is UTF-16'],
  [`${API_KEY}\u200b`, 'characters that are not valid in a key'],
  [42, 'expected a string or a function that returns one, got number'],
  [null, 'expected a string or a function that returns one, got object'],
  [undefined, 'expected a string or a function that returns one, got undefined'],
])('rejects %j without showing it', async (value, reason) => {
  const error = await errorOf(() => ApiKey.from(value));

  expect(error).toMatchObject({ kind: 'config', message: expect.stringContaining(reason) });
  expect(inspect(error)).not.toContain('0123456789');
});

test.each([API_KEY, 'canary+/=&%?#0b6d93f25e8072b9c4d1635'])('redacts %s in base64, at any offset', (secret) => {
  const key = ApiKey.from(secret);

  for (const before of ['', 'u', 'us', 'use', 'user:']) {
    for (const after of ['', '!', 'more']) {
      const text = Buffer.from(before + secret + after);
      for (const form of ['base64', 'base64url'] as const) {
        const encoded = text.toString(form);
        expect(key.redact(encoded)).not.toContain(encoded.slice(8, -8));
        expect(key.redact(text.toString(form))).toContain('…');
      }
    }
  }
});

test.each([
  ['0b6d93f25e80', '…'], // 12 characters, the shortest
  ['abc', 'YWJj'],
])('the key %s in base64 becomes %s, because other texts can be a short key', (secret, shown) => {
  expect(ApiKey.from(secret).redact(Buffer.from(secret).toString('base64'))).toBe(shown);
});

test('recognizes the documented form', () => {
  expect(ApiKey.from(API_KEY).hasDocumentedForm).toBe(true);
  expect(ApiKey.from(API_KEY.replace('fx', 'fx-eu_1')).hasDocumentedForm).toBe(true);
  expect(ApiKey.from(`${API_KEY}0`).hasDocumentedForm).toBe(false);
  expect(ApiKey.from('fx_test_0123').hasDocumentedForm).toBe(false);
});
