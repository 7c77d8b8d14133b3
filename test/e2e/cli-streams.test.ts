import { createHash } from 'node:crypto';
import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUNDLE, hasBundle, Running, runBundle, runShell, startBundle } from '../helpers/cli-bundle.ts';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { API_KEY } from '../helpers/service-replies.ts';
import { canMountDisk, onDisk } from '../helpers/small-disk.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Larger than any pipe buffer, with more digits than a number has. */
const DATA = JSON.stringify({ rows: 'x'.repeat(1_000_000) }).replace('}', ',"rate":1.10,"é":"\\u00e9"}');
const BODY = `{"success":true,"data":${DATA}}\n`;

let server: RawServer;
let env: Record<string, string> = {};

beforeAll(async () => {
  server = await startRawServer({
    onRequest: ({ socket, head }) => {
      const body = head.includes('/small') ? '{"success":true,"data":{"a":1.10}}' : BODY;
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    },
  });
  env = { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: API_KEY };
});

afterAll(() => server.close());

describe.skipIf(!hasBundle)('the built command', () => {
  test('a pipe receives every byte of a large response', async () => {
    const { code, stdout, stderr } = await runBundle(['latest'], { env });

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`${DATA}\n`);
  });

  test('api prints the body, byte for byte, in a pipe with a slow reader and in a file', async () => {
    const file = join(temporaryFolder(), 'raw');
    const hashOf = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

    const piped = await runShell('fxrates api /api/v1/latest | (sleep 0.3; sha256sum)', { env });
    await runShell(`fxrates api /api/v1/latest > ${file}`, { env });

    expect(piped.stdout).toContain(hashOf(BODY));
    expect(hashOf(await readFile(file))).toBe(hashOf(BODY));
  });

  test.skipIf(process.platform === 'win32').each([
    ['batch - < /', 'cannot read the queries in standard input — it is a folder'],
    ['quota --key-stdin < /', 'cannot read the key from standard input — it is a folder'],
    ['batch --each n=1 --failed-out FILE > FILE', 'cannot write FILE — stdout is redirected to it'],
    ['batch --each n=1 --failed-out FILE 2>> FILE', ''],
    ['batch --each n=1 --failed-out FILE --key-stdin <> FILE', 'cannot write FILE — the key is read from it'],
    ['batch --each n=1 --failed-out /dev/stdout > FILE', undefined],
  ])('%s is refused: %s', async (line, says) => {
    const file = join(temporaryFolder(), 'file');

    const { code, stderr } = await runShell(`fxrates ${line.replaceAll('FILE', file)}`, { env });

    expect(code === 0).toBe(says === undefined);
    expect(stderr).toContain((says ?? '').replace('FILE', file));
  });

  const EARLY = ['latest | head -c 10', '--help | head -1', 'latest -o tsv | true', 'batch --each n=1,2 -q | head -1'];
  test.each(EARLY)('a reader that stops early is not a failure: %s', async (line) => {
    const { code, stderr } = await runShell(`fxrates ${line}`, { env });

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test.skipIf(process.platform !== 'linux')('a full disk is a failure with a reason', async () => {
    for (const command of ['fxrates latest', 'fxrates --help', 'fxrates --version']) {
      const { code, stderr } = await runShell(`${command} > /dev/full`, { env });

      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'fxrates: cannot write the output — no space left on the device (ENOSPC)\n',
      });
    }
  });

  test.skipIf(!canMountDisk)('a disk that fills up during the output is a failure with a reason', async () => {
    for (const command of ['help options', 'latest', '--help', '--version', 'batch --each n=1,2 -q']) {
      await onDisk('4k', async (folder) => {
        const file = join(folder, 'out');
        await writeFile(file, 'x'.repeat(4093));
        const { code, stderr } = await runShell(`fxrates ${command} >> ${file}`, { env });

        const { size } = await stat(file);
        expect({ command, code, size }).toEqual({ command, code: 1, size: 4096 });
        expect(stderr).toContain('cannot write the output — no space left on the device (ENOSPC)');
      });
    }
  });

  test('closed streams do not crash it', async () => {
    // Node.js opens /dev/null in place of a closed stream, so writes do not fail.
    for (const line of ['fxrates api /small >&-', 'fxrates latest USD 2>&-; test $? -eq 2', 'fxrates api /small <&-']) {
      const { code, stderr } = await runShell(line, { env });

      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
    }
  });

  test('a stdin that never ends is not waited for', async () => {
    const { code } = await runBundle(['api', '/small'], { env, stdin: 'open' });

    expect(code).toBe(0);
  });

  test.skipIf(process.platform === 'win32')('queries on stdin without an end are refused', async () => {
    const { code, stderr } = await runShell('fxrates batch - < /dev/zero', { env });

    expect(code).toBe(2);
    expect(stderr).toContain('cannot read the queries in standard input — it has more than 256000000 bytes');
  });

  test('--key-stdin reads one line and does not wait for the end', async () => {
    const running = startBundle(['api', '/small', '--key-stdin', '--get', 'data.a'], {
      env: { FXRATES_BASE_URL: server.url },
      stdin: 'open',
    });
    running.write(`${API_KEY}\n`);

    expect(await running.ended).toMatchObject({ code: 0, stdout: '1.10\n' });
    expect(server.requests.at(-1)).toContain(`Bearer ${API_KEY}`);
  });

  test('forced colours write no Node.js warning and no colour into data', async () => {
    const { stdout, stderr } = await runBundle(['api', '/small'], {
      env: { ...env, NO_COLOR: '1', FORCE_COLOR: '3', CLICOLOR_FORCE: '1' },
    });

    expect(stdout).toBe('{"success":true,"data":{"a":1.10}}');
    expect(stderr).toBe('');
  });

  test.skipIf(process.platform !== 'linux')(
    'a key typed as an argument is not visible in the process list',
    async () => {
      const running = startBundle(['mock', '--port', '0', '--seed', '424242'], { env });
      await running.shows('stdout', 'http://');
      const commandLine = await readFile(`/proc/${running.pid}/cmdline`, 'latin1');
      running.kill('SIGTERM');
      await running.ended;

      expect(commandLine).toContain('fxrates');
      expect(commandLine).not.toContain('424242');
    },
  );
});

describe.skipIf(!hasBundle)('what nothing catches', () => {
  /** Runs the code as soon as the command handles errors. */
  const afterwards = (code: string) => {
    const script = `const timer = setInterval(() => {
      if (process.listenerCount('uncaughtException') === 0) return;
      clearInterval(timer);
      ${code}
    })`;
    return `--import data:text/javascript,${encodeURIComponent(script)}`;
  };

  test.each([
    ['a rejected promise', `Promise.reject(new Error("boom ${API_KEY}"))`],
    ['a thrown error', `throw new Error("boom ${API_KEY}")`],
  ])('%s exits with 1 and a line to report, without the key', async (_, code) => {
    const NODE_OPTIONS = afterwards(code);

    const { code: exitCode, stderr } = await runBundle(['mock', '--port', '0', '-q', '-vv'], { env: { NODE_OPTIONS } });

    expect(exitCode).toBe(1);
    expect(stderr).toContain('fxrates: unexpected failure — boom fx_live_…cdef');
    expect(stderr).toContain('This is a bug of fxrates.');
    expect(stderr).not.toContain(API_KEY);
  });

  // As after an upgrade under a running command, whose next import finds nothing.
  test('exits with a report if its own files are missing', async () => {
    const folder = temporaryFolder();
    await cp(dirname(BUNDLE), folder, { recursive: true });
    const missing = (await readdir(folder)).filter((name) => name.startsWith('main.'));
    for (const name of missing) await rm(join(folder, name));
    await cp(join(dirname(BUNDLE), '..', '..', 'package.json'), join(folder, 'package.json'));

    const { code, stdout, stderr } = await new Running(process.execPath, [join(folder, 'fxrates.cjs'), 'quota'], {})
      .ended;

    expect(missing).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('fxrates: unexpected failure — ');
    expect(stderr).toContain('If it was upgraded just now, run the command again.');
    expect(stderr.split('\n').length).toBeLessThan(6);
  });
});

describe.skipIf(!hasBundle)('what the built command loads', () => {
  // Makes Node.js print the name of every loaded file to stderr.
  const NODE_DEBUG = 'module';

  test.each([['--version'], ['-V']])('%s loads nothing but itself', async (flag) => {
    const { stdout, stderr } = await runBundle([flag], { env: { NODE_DEBUG } });

    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(stderr).toMatch(/load "\S*fxrates\.cjs"/);
    expect(stderr).not.toMatch(/load "\S*(\/main\.cjs|commander|\/dist\/(index|mock-server)\.cjs|undici|zod|msw)/);
  });

  const NO_REQUEST = ['', '--help', 'latest --help', 'help options', 'latest USD', 'config path', '__complete -- q'];

  test.each(NO_REQUEST)("'%s' loads neither SDK nor mock nor undici", async (line) => {
    const argv = line.split(' ').filter((word) => word !== '');
    const { stderr } = await runBundle(argv, { env: { ...env, NODE_DEBUG } });

    expect(stderr).toMatch(/load "\S*\/main\.cjs"/);
    expect(stderr).not.toMatch(/load "\S*(\/dist\/(index|mock-server)\.cjs|undici|zod|msw)/);
  });

  test('a call loads the SDK, but no undici and no mock', async () => {
    // The undici in Node.js is no file: it is loaded by the first `Headers` or `fetch`.
    const report = `process.on('exit',()=>Symbol.for('undici.globalDispatcher.1') in globalThis&&console.error('load "undici'))`;
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(report)}`;
    const { stdout, stderr } = await runBundle(['api', '/small'], { env: { ...env, NODE_DEBUG, NODE_OPTIONS } });

    expect(stdout).toContain('1.10');
    expect(stderr.match(/load "\S*\/cli\/[\w-]+\.cjs"/g)).toHaveLength(2); // each additional file takes time
    expect(stderr).toMatch(/load "\S*\/dist\/index\.cjs"/);
    expect(stderr).not.toMatch(/load "\S*(mock-server|undici|msw)/);
  });

  test('the mock runs without msw', async () => {
    const { code, stderr } = await runBundle(['mock', '--', 'node', '-e', 'process.exit(0)'], {
      env: { NODE_DEBUG },
    });

    expect(code).toBe(0);
    expect(stderr).toMatch(/load "\S*mock-server/);
    expect(stderr).not.toMatch(/load "\S*(msw|undici)/);
  });
});
