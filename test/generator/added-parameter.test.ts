import { expect, test } from 'vitest';
import { generatedProject, typeErrors } from './generated-project.ts';
import { specWith } from './spec-with.ts';

const project = await generatedProject(await specWith('quota-detail.yaml'));

const quota = (...args: string[]) =>
  project.run('src/cli/bin.ts', ['quota', ...args, '--dry-run'], { FXRATES_BASE_URL: 'http://127.0.0.1:1' });

test.each([
  [['watch=true', 'detail=full'], '/api/v1/quota?detail=full&watch=true'],
  [['detail=short'], '/api/v1/quota?detail=short'],
  [['-p', 'watch=false'], '/api/v1/quota?watch=false'],
  [[], '/api/v1/quota'],
])('a parameter that the spec adds to quota is one of its command: %j', async (args, target) => {
  const { stdout } = await quota(...args);

  expect(new URL(JSON.parse(stdout).url)).toMatchObject({ href: `http://127.0.0.1:1${target}` });
});

test.each([
  ['detail=long', /^fxrates: quota: 'detail': /],
  ['depth=1', /^fxrates: quota has no parameter 'depth'/],
])('a wrong parameter of quota is a usage error: %s', async (text, message) => {
  expect(await quota(text)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(message) });
});

test('client, command line and mock server compile with it', async () => {
  const entries = ['src/client/index.ts', 'src/cli/bin.ts', 'src/mock-server/index.ts'];

  expect(await typeErrors(project.root, entries)).toEqual([]);
});
