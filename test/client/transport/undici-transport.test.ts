import { expect, test } from 'vitest';
import { UndiciHeaders } from '../../../src/client/transport/undici-transport.ts';

function headers(...raw: (string | string[])[]): UndiciHeaders {
  return new UndiciHeaders(
    raw.map((value) =>
      Array.isArray(value) ? value.map((one) => Buffer.from(one, 'latin1')) : Buffer.from(value, 'latin1'),
    ),
  );
}

test('finds a header in any case', () => {
  expect(headers('Retry-After', '7', 'X', 'y').get('retry-after')).toBe('7');
  expect(headers('Retry-After', '7').get('retry-afte')).toBeUndefined();
  expect(headers().get('date')).toBeUndefined();
});

test.each([
  ['lines of their own', headers('retry-after', '30', 'x', 'y', 'Retry-After', '60')],
  ['a list, as interceptors make it', headers('x', 'y', 'retry-after', ['30', '60'])],
])('joins several values of one name: %s', (_, several) => {
  expect(several.get('retry-after')).toBe('30, 60');
  expect(several.toHeaders().get('retry-after')).toBe('30, 60');
});

test('reads bytes beyond ASCII and names of object properties', () => {
  const odd = headers('constructor', 'x', '__proto__', 'y', 'x-note', 'Grüße');

  expect(odd.get('constructor')).toBe('x');
  expect(odd.get('__proto__')).toBe('y');
  expect(odd.toHeaders().get('x-note')).toBe('Grüße');
});

test('reads text instead of bytes', () => {
  expect(new UndiciHeaders(['Date', 'today']).get('date')).toBe('today');
});
