import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../bench/free-port.ts';
import { connectMockServer, createMockServer } from '../../src/mock-server/index.ts';
import { hasBundle, Running } from '../helpers/cli-bundle.ts';
import { hasProgram } from '../helpers/has-program.ts';
import { byNodeHttp } from '../helpers/mock-adapters.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { until } from '../helpers/until.ts';
import { installOffline, pack } from './consumer.ts';

const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8');
const block = (language: string, marker: string) =>
  Array.from(page.matchAll(/^```(\w+)\n(.*?)^```$/gms)).find(
    ([, name, code]) => name === language && code?.includes(marker),
  )?.[2] ?? '';
const dockerfile = Object.fromEntries(
  block('dockerfile', 'FROM')
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
);
const compose = parse(block('yaml', '# compose.yaml'));
const { mock: mockService, tests: testService } = compose.services;
const ciScript = String(parse(block('yaml', '# .github'))[0].run);

const folder = temporaryFolder();

describe.skipIf(!hasBundle)('the steps of the Dockerfile and of compose.yaml, without Docker', () => {
  beforeAll(async () => {
    // Replaces `npm install --global`, which needs a registry.
    await installOffline(await pack(folder), folder, []);
  });

  test('a container becomes healthy, responds under the name of its service, and exits at SIGTERM', async () => {
    const port = String(await freePort());
    const env = {
      ...mockService.environment,
      HOME: folder,
      PATH: [join(folder, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    };
    const [program, ...args] = JSON.parse(dockerfile['ENTRYPOINT'] ?? '[]');
    const container = new Running(program, [...args, ...mockService.command, '--port', port], { env, stdin: 'open' });
    await container.shows('stderr', 'Requests:');

    const health = dockerfile['HEALTHCHECK']?.replace(/^.*? CMD /, '').replace('4010', port) ?? '';
    const { code: healthCode } = await new Running('sh', ['-c', health], { env }).ended;
    const { host } = new URL(testService.environment.FXRATES_BASE_URL);
    const headers = { host, authorization: `Bearer ${testService.environment.FXRATES_API_KEY}` };
    const response = await byNodeHttp(`http://127.0.0.1:${port}`)({ target: '/api/v1/quota', headers });
    const adminUrl = testService.environment.FXRATES_MOCK_ADMIN_URL.replace('mock:4010', `127.0.0.1:${port}`);
    const remote = connectMockServer(adminUrl);
    await remote.expectRequests({ headers: { host: 'mock:4010' } }).toHaveCount(1);
    container.kill('SIGTERM');
    const { code } = await container.ended;

    expect([healthCode, response.status, code]).toEqual([0, 200, 0]);
  });

  test.skipIf(!hasProgram('curl'))(
    'the steps for CI wait for the mock, run tests with its key, and stop it',
    async () => {
      const port = String(await freePort());
      // Replaces the packages and the tests of a reader.
      const lines = ciScript
        .replace(/\S+\/fxrates mock/, `node_modules/.bin/fxrates mock --port ${port}`)
        .replace('npm test', 'fxrates latest base=EUR --get base && echo "$FXRATES_MOCK_ADMIN_TOKEN"');
      const atPort = (text: string) => text.replaceAll('4010', port);
      const path = [join(folder, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
      const env = { HOME: folder, PATH: path };

      const { code, stdout } = await new Running('sh', ['-ec', `cd "$0"\n${atPort(lines)}`, folder], { env }).ended;

      expect({ code, stdout }).toEqual({ code: 0, stdout: 'EUR\nknown-to-tests-alone\n' });
      expect(readFileSync(join(folder, 'mock.log'), 'utf8')).toContain('GET /api/v1/latest');
      await until(() =>
        fetch(`http://127.0.0.1:${port}`).then(
          () => false,
          () => true,
        ),
      );
    },
    60_000,
  );

  test('an unhealthy container is noticed', async () => {
    const health = dockerfile['HEALTHCHECK']?.replace(/^.*? CMD /, '').replace('4010', String(await freePort())) ?? '';

    expect((await new Running('sh', ['-c', health], {}).ended).code).toBe(1);
  });
});

test('the key in the documents is the one that the seed gives', () => {
  const { key } = createMockServer({ seed: 7 }).createKey({ plan: 'developer' });

  expect(page.match(/fx_live_[0-9a-f]+/g)?.every((shown) => shown === key)).toBe(true);
  expect(testService.environment.FXRATES_API_KEY).toBe(key);
});
