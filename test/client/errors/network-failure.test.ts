import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { FxRatesOptions, NetworkError } from '../../../src/client/index.ts';
import { API_KEY, success } from '../../helpers/service-replies.ts';
import { errorOf, testClient } from '../../helpers/test-client.ts';

async function failureWith(thrown: Error, options: FxRatesOptions = {}): Promise<NetworkError> {
  const { fx } = testClient(thrown, { maxRetries: 0, ...options });
  return (await errorOf(fx.latest())) as NetworkError;
}

function nested(depth: number, innermost: object): object {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = { inner: value };
  return value;
}

test('keeps the error of the transport as the cause', async () => {
  const thrown = Object.assign(new Error('gone'), { code: 'ECONNRESET', socket: { remotePort: 443 }, list: [1, null] });

  expect((await failureWith(thrown)).cause).toBe(thrown);
});

test.each([
  ['a hundred levels deep', nested(100, { key: API_KEY })],
  ['as a name', { [API_KEY]: true }],
  ['in base64', { headers: [`Basic ${Buffer.from(`:${API_KEY}`).toString('base64')}`] }],
  ['behind many values', { list: Array.from({ length: 999 }, () => ({})), key: API_KEY }],
  ['in a request', { request: new Request('https://fx.test', { headers: { authorization: API_KEY } }) }],
  ['in a map', { map: new Map([['key', API_KEY]]) }],
])('the cause does not show a key that the transport put into its error %s', async (_, extra) => {
  const thrown = Object.assign(new Error('gone'), { extra });

  const { cause } = await failureWith(thrown);

  expect(cause).not.toBe(thrown);
  expect(cause).toMatchObject({ message: 'gone' });
  expect(Object.keys(cause as object)).not.toContain('extra');
});

test.each([
  ['many values', { list: Array.from({ length: 900 }, () => Array.from({ length: 900 }, () => ({ a: 1 }))) }],
  ['many properties', Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`p${index}`, index]))],
  ['a long list', Array.from({ length: 5_001 }, () => 0)],
  ['a list of millions', Array.from({ length: 5_000_000 }, () => 0)],
])('copies the text of an error with %s without searching it', async (_, extra) => {
  const thrown = Object.assign(new Error('gone'), { extra });

  expect((await failureWith(thrown)).cause).not.toBe(thrown);
});

test('a thrown value that is no error does not show a part of a key at the end of a long text', async () => {
  const thrown = { text: `${'x'.repeat(9_960)}${API_KEY}` };
  const { fx } = testClient(success(), { maxRetries: 0, fetch: () => Promise.reject(thrown) });

  expect(inspect(await errorOf(fx.latest()), { depth: 5, maxStringLength: null })).not.toContain(API_KEY.slice(0, 20));
});
