import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program/program.ts';
import { BUNDLE, hasBundle, Running } from '../helpers/cli-bundle.ts';
import { servedMock } from '../helpers/served-mock.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const examples = createProgram()
  .all()
  .flatMap((command) => command.examples.map((example) => example.command));

/** Examples with a prompt: run on a terminal, with the text that a user would type. */
const TYPED: Readonly<Record<string, string>> = {
  'fxrates auth login --base-url https://api.example.test': '{key}\r',
  'fxrates auth login': '{key}\r',
};
/** Examples that do not end are stopped with Ctrl-C after their first output; their exit codes. */
function codeOfLasting(example: string): number | undefined {
  if (example === 'fxrates latest --watch') return 130;
  return /^fxrates mock(?!.* -- )/.test(example) ? 0 : undefined;
}

/** Stand-ins for programs and files of the reader. */
const REPLACED: readonly (readonly [example: string, here: string])[] = [
  ['source <(fxrates completion zsh)', 'fxrates completion zsh'],
  ['fish | source', 'fish'],
  ['| Out-String | Invoke-Expression', ''],
  ['-- npm test', '-- sh -c "test -n \\"$FXRATES_API_KEY\\""'],
  ['https://api.example.test', '$FXRATES_BASE_URL'],
  ['fxrates mock', 'fxrates mock --port 0'],
  ['fxrates quota --watch --fail-at 90%', 'fxrates quota --watch --fail-at 0 || test $? -eq 8'],
];

const { mock, server } = await servedMock({ clock: 'real', seed: 7 });
const { key } = mock.createKey({ plan: 'developer' });
const home = temporaryFolder();
let env: Record<string, string> = {};

beforeAll(async () => {
  await writeFile(join(home, 'key.txt'), `${key}\n`);
  for (const name of ['queries.txt', 'failed.txt']) await writeFile(join(home, name), 'base=USD symbols=EUR,GBP\n');
  await mkdir(join(home, 'bin'));
  await writeFile(join(home, 'bin', 'fxrates'), `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`, {
    mode: 0o755,
  });
  await writeFile(join(home, 'script'), '#!/bin/sh\ntest -n "$FXRATES_API_KEY"\n', { mode: 0o755 });
  const path = `${join(home, 'bin')}:${process.env['PATH']}`;
  env = {
    PATH: path,
    HOME: home,
    SHELL: '/bin/bash',
    FXRATES_BASE_URL: server.url,
    FXRATES_API_KEY: key,
    TERM: 'xterm',
  };
  // Stores the data that some examples need.
  const setUp = 'fxrates config set timeout 10s; fxrates config set base_url "$FXRATES_BASE_URL"';
  await new Running('bash', ['-c', setUp], { env }).ended;
});

afterAll(() => mock.close());

function here(example: string): string {
  return REPLACED.reduce((line, [text, replacement]) => line.replace(text, replacement), `cd "$HOME"; ${example}`);
}

async function run(example: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const typed = TYPED[example];
  if (typed !== undefined) {
    const running = new Running('script', ['-qec', `bash -c '${here(example)}'`, '/dev/null'], { env, stdin: 'open' });
    await running.shows('stdout', 'input is hidden');
    running.write(typed.replace('{key}', key));
    const { code, stdout } = await running.ended;
    return { code, output: stdout };
  }
  const exec = codeOfLasting(example) === undefined ? '' : 'exec ';
  const running = new Running('bash', ['-c', here(example).replace('fxrates', `${exec}fxrates`)], { env });
  if (exec !== '') {
    await running.shows('stdout', '\n');
    running.kill('SIGINT');
  }
  const { code, signal, stdout, stderr } = await running.ended;
  return { code: signal === 'SIGINT' ? 130 : code, output: stdout + stderr };
}

describe.skipIf(!hasBundle)('every example of help', () => {
  test.each([...new Set(examples)])('%s', async (example) => {
    const { code, output } = await run(example);

    expect({ code, output: code === (codeOfLasting(example) ?? 0) ? '' : output }).toEqual({
      code: codeOfLasting(example) ?? 0,
      output: '',
    });
  });

  test('every listed exception is an example of the help', () => {
    expect(examples).toEqual(expect.arrayContaining(Object.keys(TYPED)));
    expect(examples.length).toBeGreaterThan(30);
  });
});
