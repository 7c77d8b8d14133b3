import { expect, onTestFinished, test } from 'vitest';
import { runCli, usageError } from '../../helpers/cli-io.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

test.each([
  [['base=USD', 'symbols=EUR,GBP'], '?base=USD&symbols=EUR%2CGBP'],
  [['q=a b+c&d'], '?q=a+b%2Bc%26d'],
  [['q=€ü'], '?q=%E2%82%AC%C3%BC'],
  [['--empty', 'empty', 'q=1', '--empty', 'x'], '?q=1&empty=&x='],
  [['x=1=2=3'], '?x=1%3D2%3D3'],
  [['s=EUR', 's=GBP', 's=EUR'], '?s=EUR&s=GBP&s=EUR'],
  [['b=1', 'a=2'], '?b=1&a=2'],
  [['-p', '--base=USD', '-p', 'x=-1', 'y=2'], '?y=2&--base=USD&x=-1'],
  [['constructor=1', 'toString=2'], '?constructor=1&toString=2'],
  [['--', 'base=USD'], '?base=USD'],
])('%j are sent as %s', async (args, search) => {
  const { code, requests, stderr } = await runCli(['latest', ...args]);

  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(requests[0]?.url).toBe(`https://api.example.test/api/v1/latest${search}`);
});

test.each([
  [['/p?base=EUR&x=1', 'base=USD'], '/p?base=EUR&base=USD&x=1'],
  [['/p?base=EUR&q=a?b&c=d'], '/p?base=EUR&q=a%3Fb&c=d'],
])('api with the parameters %j, also one in both places, sends %s', async (args, target) => {
  const { requests } = await runCli(['api', ...args]);

  expect(requests[0]?.url).toBe(`https://api.example.test${target}`);
});

const AS_PARAMETERS = 'e.g. base=EUR symbols=USD';
const notOne = (text: string, example: string) =>
  `'${text}' is not a parameter — parameters are written name=value, e.g. ${example}`;

test.each([
  // The service would ignore it and count the call.
  [['latest', 'base =USD'], 'starts or ends with white space'],
  [['latest', ' base=USD'], 'starts or ends with white space'],
  // Copied from a URL.
  [['latest', '?base=EUR&symbols=USD'], AS_PARAMETERS],
  [['latest', 'base=EUR&symbols=USD'], AS_PARAMETERS],
  [['latest', '/api/v1/latest?base=EUR&symbols=USD'], AS_PARAMETERS],
  [['latest', 'USD'], notOne('USD', 'base=USD')],
  [['latest', 'EUR'], notOne('EUR', 'base=EUR')],
  [['latest', '=EUR'], notOne('=EUR', 'base=USD')],
  [['latest', '-'], notOne('-', 'base=USD')],
  [['latest', 'base:EUR'], notOne('base:EUR', 'base=USD')],
  [['latest', 'base='], "'base=' has no value — a variable of the shell may not be set"],
  [['latest', '-p', 'base='], "'base=' has no value"],
  [['latest', 'base=USD\r'], "the value of 'base' ends with a carriage return"],
  [['latest', '--empty', ''], "the name of the parameter '' is empty"],
  [['latest', '--empty', 'base='], "the name of the parameter 'base=' is empty, has a =,"],
  [['latest', '--empty', 'base=USD'], "the name of the parameter 'base=USD' is empty, has a =,"],
  [['api', '/x?=1'], "the name of the parameter '' is empty"],
  [['api', '/x?%20base=1'], 'starts or ends with white space'],
  // Options of the library, which refuses them in its own words.
  [['latest', 'timeoutMs=5'], "'timeoutMs' is an option of the client, not a parameter"],
  [['latest', '--empty', 'coalesce'], "'coalesce' is an option of the client, not a parameter"],
  [['api', '/api/v1/latest?maxAgeMs=1'], "'maxAgeMs' is an option of the client, not a parameter"],
  [['api', ''], "api expects a path, got ''"],
  [['api', '?base=USD'], "api expects a path, got '?base=USD'"],
  [['api', '/api/v1/latest?base='], "'base=' has no value"],
  // Bytes that are lost.
  [['latest', 'base=caf\uFFFD'], "the parameter 'base' is not valid UTF-8"],
  [['latest', '-p', 'b\uFFFD=x'], 'is not valid UTF-8'],
  [['api', '/api/v1/latest?base=\uFFFD'], "the parameter 'base' is not valid UTF-8"],
])('%j, which is certainly wrong, is refused: %s', async (argv, message) => {
  expect(await usageError(argv)).toContain(message);
});

test.each([
  ['latest', 'api_key=secret-value'],
  ['latest', 'API_KEY=secret-value'],
  ['latest', 'api-key=secret-value'],
  ['latest', 'apikey=secret-value'],
  ['latest', 'api%5Fkey=secret-value'],
  ['latest', '-p', 'api_key=secret-value'],
  ['latest', '--curl', 'api_key=secret-value'],
  ['api', '/api/v1/latest?api_key=secret-value'],
  ['api', '/api/v1/latest?a=1&api%5Fkey=secret-value'],
  ['api', '/api/v1/latest', 'api_key=secret-value'],
])('%s %s %s is refused, because URLs end up in logs', async (...argv) => {
  const stderr = await usageError(argv);

  expect(stderr).toContain('refusing to send');
  expect(stderr).not.toContain('secret-value');
});

test.each([
  [['latest', `key=${API_KEY}`]],
  [['latest', API_KEY]],
  [['latest', API_KEY.replace('_', '%5F')]],
  [['latest', '-p', `x=${API_KEY}`]],
  [['latest', `x=see_${API_KEY}.`]],
  [['api', `/api/v1/latest?x=${API_KEY}`]],
])('a parameter that looks like a key is rejected and not printed', async (argv) => {
  const env = { FXRATES_API_KEY: 'another-key-of-some-length' };

  expect(await usageError(argv, { env })).not.toContain(API_KEY);
});

test('a parameter with a word of a million letters is sent', async () => {
  const { code, requests } = await runCli(['latest', `x=${'a'.repeat(1_000_000)}`]);

  expect(code).toBe(0);
  expect(requests).toHaveLength(1);
});

test.each([
  ['batch', '--each', 'base=USD EUR'],
  ['batch', '--each', 'n=1', '-p', 'symbols=USD EUR GBP'],
  ['latest', 'symbols=usd eur'],
  ['api', '/api/v1/latest', 'symbols=USD EUR'],
])('on Windows %s %s %s, of which PowerShell has removed the comma, is refused', async (...argv) => {
  const { platform } = process;
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
  const quoted = `PowerShell needs quotes:  '${(argv.at(-1) ?? '').replaceAll(' ', ',')}'\n`;

  Object.defineProperty(process, 'platform', { value: 'win32' });

  expect(await usageError(argv)).toContain(quoted);
  expect((await runCli(['latest', 'city=New York'])).code).toBe(0);
});
