import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BUNDLE, hasBundle, hasTerminal, runBundle, startBundle, startOnTerminal } from '../helpers/cli-bundle.ts';

describe.skipIf(!hasBundle)('fxrates mock', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('%s stops it with 0, also with connections open', async (signal) => {
    const running = startBundle(['mock', '--port', '0', '--json'], { stdin: 'open' });
    await running.shows('stdout', '\n');
    const { url, key, pid } = JSON.parse(running.stdout);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET /api/v1/quota HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
    await once(socket, 'data'); // kept alive from now on

    running.kill(signal);

    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(pid).toBe(running.pid);
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  test.each([[], ['--json']])(
    'responds, and SIGTERM stops it with 0, while no program reads stderr: %j',
    async (...format) => {
      const mock = spawn(process.execPath, [BUNDLE, 'mock', '--port', '0', ...format], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      onTestFinished(() => void mock.kill('SIGKILL'));
      const [ready] = await once(mock.stdout, 'data');
      const [url] = /http:[\d./:]+\d/.exec(String(ready)) ?? [];

      for (let sent = 0; sent < 100; sent += 1) {
        expect((await fetch(`${url}/api/v1/latest?q=${'x'.repeat(8_000)}`)).status).toBe(401);
      }
      mock.kill('SIGTERM');

      expect(await once(mock, 'exit')).toEqual([0, null]);
    },
  );
});

describe.skipIf(!hasBundle)('fxrates mock -- command', () => {
  const inNode = (code: string) => ['mock', '--', process.execPath, '-e', code];

  test.each([
    ['process.exit(3)', 3],
    ['process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1e6)', 143],
    ['process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1e6)', 137],
  ])('%s makes it exit %d', async (script, expected) => {
    expect((await runBundle(inNode(script))).code).toBe(expected);
  });

  test('stdin, stdout and stderr are those of the command', async () => {
    const { stdout, stderr } = await runBundle(['mock', '-q', '--', 'bash', '-c', 'cat; echo oops >&2'], {
      stdin: 'hello\n',
    });

    expect({ stdout, stderr }).toEqual({ stdout: 'hello\n', stderr: 'oops\n' });
  });

  test('passes a signal on to the command, which decides the exit', async () => {
    const running = startBundle(
      inNode('process.on("SIGTERM", () => process.exit(7)); console.log("ready"); setInterval(() => {}, 1e6)'),
    );
    await running.shows('stdout', 'ready');

    running.kill('SIGTERM');

    expect((await running.ended).code).toBe(7);
  });

  test.skipIf(!hasTerminal)('Ctrl-C during its start ends it: the command is not there to receive it', async () => {
    const script =
      "import net from 'node:net'; const { listen } = net.Server.prototype;\
      net.Server.prototype.listen = function (...all) { process.kill(process.pid, 'SIGINT'); return listen.apply(this, all); }";
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(script)}`;

    const { code, stdout } = await startOnTerminal('mock -- echo started', { NODE_OPTIONS }).ended;

    expect({ code, stdout }).toEqual({ code: 130, stdout: '\r\n' });
  });

  test('a file that is not a program exits with 126', async () => {
    const { code, stderr } = await runBundle(['mock', '--', '/etc/passwd']);

    expect({ code, stderr }).toEqual({ code: 126, stderr: expect.stringContaining('  chmod +x /etc/passwd\n') });
  });
});
