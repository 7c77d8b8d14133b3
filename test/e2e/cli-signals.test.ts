import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUNDLE, hasBundle, hasTerminal, Running, startBundle, startOnTerminal } from '../helpers/cli-bundle.ts';
import { servedMock } from '../helpers/served-mock.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const { mock, server, call } = await servedMock({ clock: 'real' });
const { key } = mock.createKey();
const env = { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key };

beforeAll(async () => {
  // The next call now has to wait for most of a minute.
  for (let sent = 0; sent < 31; sent += 1) await call(key, '/api/v1/quota');
});
afterAll(() => mock.close());

const hasPidNamespaces = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

describe.skipIf(!hasBundle)('a signal during a wait', () => {
  test.each(['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s ends the built command by the same signal',
    async (signal) => {
      const running = startBundle(['latest', '--json'], { env, stdin: 'open' });
      await running.shows('stderr', '"event":"wait"');

      running.kill(signal);

      expect(await running.ended).toMatchObject({ code: null, signal, stdout: '' });
    },
  );

  test.skipIf(process.platform !== 'linux')('Ctrl-C stops a loop of the shell', async () => {
    const loop = `for n in 1 2 3; do "${process.execPath}" "${BUNDLE}" latest --json; echo "after $?" >&2; done`;
    const running = new Running('setsid', ['bash', '-c', loop], { env, stdin: 'open' });
    await running.shows('stderr', '"event":"wait"');

    process.kill(-running.pid, 'SIGINT'); // to the shell and the command, as a terminal does
    const { signal, stderr } = await running.ended;

    expect(signal).toBe('SIGINT');
    expect(stderr).not.toContain('after');
  });

  test.skipIf(!hasPidNamespaces)('SIGTERM ends the first process of a container', async () => {
    const args = ['--pid', '--fork', '--kill-child', process.execPath, BUNDLE, 'latest', '--json'];
    const running = new Running('unshare', args, { env, stdin: 'open' });
    await running.shows('stderr', '"event":"wait"');

    spawnSync('pkill', ['-TERM', '-P', `${running.pid}`]);

    expect(await running.ended).toMatchObject({ code: 143, stdout: '' });
  });

  test.skipIf(process.platform !== 'linux')('while --key-stdin waits for a key, Ctrl-C works as well', async () => {
    const running = startBundle(['-v', 'quota', '--key-stdin'], { env, stdin: 'open' });
    running.write('half-a-key');
    await untilReadingStdin(running);

    running.kill('SIGINT');

    expect(await running.ended).toMatchObject({ code: null, signal: 'SIGINT' });
  });
});

describe.skipIf(!hasBundle || !hasTerminal)('on a pseudo-terminal', () => {
  test.each([
    ['latest', 80, 'Rate limited. Retrying in #'],
    ['latest', 38, 'Rate limited. Retrying in #'],
    ['latest --watch', 25, 'Retrying in #'],
    ['batch --each base=EUR', 25, '0 of 1'],
  ])('the wait of %s at %d columns is one line, which Ctrl-C ends', async (line, columns, shown) => {
    const running = startOnTerminal(line, env, columns);
    const start = shown.replace('#', '');
    await running.shows('stdout', start);
    running.stdout = '';
    await running.shows('stdout', start); // the next frame

    running.write('\u0003');
    const { code, stdout } = await running.ended;

    const [frames = '', after = ''] = stripVTControlCharacters(stdout).split('^C\r\n');
    const lines = frames.split('\r').filter(Boolean);
    expect(code).toBe(130);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(columns);
    expect(frames).not.toContain('\n');
    expect(after.trim()).toMatch(line.startsWith('batch') ? /^fxrates: batch stopped/ : /^$/);
  });

  test('help is coloured, and plain with NO_COLOR', async () => {
    expect((await startOnTerminal('--help').ended).stdout).toContain('\u001b[1mUsage:\u001b[22m');
    expect((await startOnTerminal('--help', { NO_COLOR: '1' }).ended).stdout).not.toContain('\u001b[');
  });
});

// At its end, Node.js 20 resets terminals, and aborts if one is gone.
test.skipIf(!hasBundle || !hasTerminal).each(['', '< /dev/null', '> /dev/null'])(
  'mock %s exits with 0 after its terminal was closed',
  async (redirection) => {
    const file = join(temporaryFolder(), 'code');
    const line = `trap "" HUP; "${process.execPath}" "${BUNDLE}" mock --port 0 ${redirection}; echo $? > ${file}`;
    // The outer shell ends with its terminal. Then the system sends SIGHUP to the others.
    const terminal = new Running('script', ['-qec', `sh -c '${line}'; true`, '/dev/null'], { stdin: 'open' });
    await terminal.shows('stdout', 'Requests:');

    terminal.kill('SIGKILL');

    const code = () => readFile(file, 'utf8').catch(() => '');
    await terminal.until(async () => (await code()) !== '', 'the exit code');
    expect(await code()).toBe('0\n');
  },
);

/** A shell with job control, in which `login` waits for a key. Each prompt of the shell shows whether the terminal echoes. */
async function startLogin() {
  const folder = temporaryFolder();
  const env = { TERM: 'xterm', HOME: folder, FXRATES_CONFIG_DIR: folder };
  const shell = new Running('script', ['-qec', 'bash --norc --noediting -i', '/dev/null'], { env, stdin: 'open' });
  const login = `"${process.execPath}" "${BUNDLE}" auth login --no-verify --base-url ${server.url}`;
  shell.write(`PROMPT_COMMAND='echo "pid $$ <$(stty -a | grep -oE -- "-?echo ")>"'\n`);
  await shell.shows('stdout', '<echo >');
  const pid = /pid (\d+) </.exec(shell.stdout)?.[1] ?? '';
  /** Types `text`, or sends a signal to the command. Resolves when `shown` follows. */
  const after = async (act: string, shown: string) => {
    shell.stdout = '';
    if (act.startsWith('SIG')) spawnSync('pkill', [`-${act.slice(3)}`, '-P', pid]);
    else shell.write(act);
    await shell.shows('stdout', shown);
    return shell.stdout;
  };
  await after(`${login}\n`, 'hidden): ');
  const command = spawnSync('pgrep', ['-P', pid], { encoding: 'utf8' }).stdout.trim();
  const bytesRead = async () => Number(/^rchar: (\d+)/.exec(await readFile(`/proc/${command}/io`, 'utf8'))?.[1]);
  /** Types a part of a key. Resolves when the command has read it: a signal can be faster than the terminal. */
  const type = async (text: string) => {
    const before = await bytesRead();
    shell.write(text);
    await shell.until(async () => (await bytesRead()) >= before + text.length, 'the read of the key');
  };
  return { shell, type, after, folder };
}

describe.skipIf(!hasBundle || !hasTerminal || process.platform !== 'linux')('at the hidden prompt', () => {
  test.each(['\u0003', '\u001c', '\u0004', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'])(
    'the terminal echoes after %j, and shows nothing of the key',
    async (end) => {
      const { shell, type, after } = await startLogin();
      await type('half-a-key');

      if (end === '\u0004') shell.write('\u0015'); // Ctrl-D ends an empty line
      const shown = await after(end, '<echo >');

      expect(shown).not.toContain('half');
      shell.write('exit\n');
      await shell.ended;
    },
  );

  test('Ctrl-Z does nothing', async () => {
    const { shell, type, after, folder } = await startLogin();
    await type('fx_typed\u001a');

    const shown = await after('_0123456789\r', '<echo >');

    expect(shown).not.toContain('typed');
    expect(await readFile(join(folder, 'credentials.json'), 'utf8')).toContain('"fx_typed_0123456789"');
    shell.write('exit\n');
    await shell.ended;
  });

  test.each(['SIGTSTP', 'SIGSTOP'])(
    'a key pasted after %s and fg is read, and reaches neither screen nor shell',
    async (stop) => {
      const { shell, type, after, folder } = await startLogin();
      await type('half-a-key');

      await after(stop, '<echo >');
      await after('fg\n', 'hidden): ');
      const shown = await after('fx_pasted_0123456789\r', '<echo >');

      expect(shown).not.toContain('pasted');
      expect(shown).not.toContain('not found');
      expect(await readFile(join(folder, 'credentials.json'), 'utf8')).toContain('"fx_pasted_0123456789"');
      shell.write('exit\n');
      await shell.ended;
    },
  );
});

/** A command that handles signals and waits for a key from an empty pipe. */
async function startedWithoutKey(): Promise<Running> {
  const fifo = join(temporaryFolder(), 'key');
  spawnSync('mkfifo', [fifo]);
  const running = startBundle(['quota', '--key-file', fifo, '--base-url', 'http://127.0.0.1:9']);
  await untilHandlingSignals(running);
  return running;
}

/** Resolves when the handlers of SIGINT and SIGTERM are installed. */
function untilHandlingSignals(running: Running): Promise<void> {
  const handled = async () => (await readFile(`/proc/${running.pid}/status`, 'utf8')).match(/^SigCgt:\s*(\w+)/m)?.[1];
  return running.until(
    async () => (BigInt(`0x${(await handled()) ?? '0'}`) & 0x4002n) === 0x4002n,
    'the handlers of signals',
  );
}

/** Resolves when the process waits for its stdin: Linux shows what an epoll descriptor watches. */
function untilReadingStdin(running: Running): Promise<void> {
  const folder = `/proc/${running.pid}/fdinfo`;
  return running.until(async () => {
    const files = (await readdir(folder)).map((name) => readFile(`${folder}/${name}`, 'utf8').catch(() => ''));
    return (await Promise.all(files)).some((text) => /^tfd:\s+0 /m.test(text));
  }, 'a read of stdin');
}

/** A full pipe that no program reads. */
function fullPipe(): { readonly path: string; readonly file: number } {
  const path = join(temporaryFolder(), 'full');
  spawnSync('mkfifo', [path]);
  const file = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const fill = () => {
    while (writeSync(file, Buffer.alloc(4096)) > 0);
  };
  expect(fill).toThrow('EAGAIN');
  return { path, file };
}

describe.skipIf(!hasBundle || process.platform !== 'linux')('the built command', () => {
  test('one Ctrl-C ends it while it waits for a key from a pipe', async () => {
    const running = await startedWithoutKey();

    running.kill('SIGINT');

    expect(await running.ended).toMatchObject({ code: null, signal: 'SIGINT', stdout: '', stderr: '' });
  });

  test('a second signal ends it while it waits for a key from a pipe', async () => {
    const running = await startedWithoutKey();

    const { ended } = running;
    const hasEnded = ended.then(() => true);
    await running.until(() => {
      running.kill('SIGTERM');
      return Promise.race([hasEnded, new Promise<false>((resolve) => setImmediate(resolve, false))]);
    }, 'its end');

    expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  test.each([
    ['SIGINT', '--help', '>'],
    ['SIGTERM', 'completion bash', '>'],
    ['SIGINT', 'unknown', '2>'],
    ['SIGTERM', 'quota -v --retries 0', '2>'],
  ] as const)('%s ends %s while no program reads what it writes to %s', async (signal, line, redirection) => {
    const { path, file } = fullPipe();
    const command = `exec "${process.execPath}" "${BUNDLE}" ${line} ${redirection} "${path}"`;
    const running = new Running('sh', ['-c', command], { env });
    const where = () => readFile(`/proc/${running.pid}/wchan`, 'utf8').catch(() => '');
    await running.until(async () => /pipe_w/.test(await where()), 'a blocked write');

    running.kill(signal);

    expect(await running.ended).toMatchObject({ code: null, signal });
    closeSync(file);
  });

  test('a batch whose output no program reads writes its failed queries at Ctrl-C', async () => {
    const { path, file } = fullPipe();
    const failed = join(temporaryFolder(), 'failed.txt');
    const line = `batch -v --each base=EUR,USD --failed-out "${failed}"`;
    const command = `exec "${process.execPath}" "${BUNDLE}" ${line} > "${path}"`;
    const running = new Running('sh', ['-c', command], { env: { ...env, FXRATES_API_KEY: mock.createKey().key } });
    await running.shows('stderr', '< 200');

    running.kill('SIGINT');

    expect(await running.ended).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(await readFile(failed, 'utf8')).toBe('{"base":"EUR"}\n{"base":"USD"}\n');
    closeSync(file);
  });
});
