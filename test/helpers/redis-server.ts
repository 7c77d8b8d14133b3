import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';

/** A real Redis on a free port of the loopback, without files. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  /** Connections stay open, but get no response until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Kills it immediately, like a crash, and loses its data. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
}

/** Without redis-server, tests that need it are reported as skipped. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

if (!hasRedis) process.stderr.write('SKIPPED: tests over a real Redis. Install redis-server to run them.\n');

export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  let redis = await listen(port);
  const kill = async () => {
    if (redis.exitCode !== null || redis.signalCode !== null) return;
    const gone = once(redis, 'exit');
    redis.kill('SIGKILL');
    await gone;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    freeze: () => redis.kill('SIGSTOP'),
    thaw: () => redis.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      redis = await listen(port);
    },
    [Symbol.asyncDispose]: kill,
  };
}

export async function listen(port: number, more: readonly string[] = []): Promise<ChildProcess> {
  const network = ['--port', `${port}`, '--bind', '127.0.0.1'];
  // Each has its own file, because a replica writes the data of its master.
  const storage = ['--save', '', '--appendonly', 'no', '--dir', tmpdir(), '--dbfilename', `fxrates-${port}.rdb`];
  const replication = ['--repl-diskless-sync-delay', '0', '--repl-diskless-load', 'swapdb'];
  const redis = spawn('redis-server', [...network, ...storage, ...replication, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: redis.stdout })) {
    lines.push(line);
    if (line.includes('Ready to accept connections')) break;
  }
  if (redis.exitCode === null) {
    redis.stdout.resume(); // a full pipe would stop it
    endWithThisProcess(redis);
    return redis;
  }
  throw new Error(`redis-server did not start:\n${lines.join('\n')}`);
}

const running = new Set<ChildProcess>();

function endWithThisProcess(redis: ChildProcess): void {
  if (running.size === 0) process.once('exit', killRunning);
  running.add(redis);
  redis.once('exit', () => {
    running.delete(redis);
    if (running.size === 0) process.off('exit', killRunning);
  });
}

function killRunning(): void {
  for (const redis of running) redis.kill('SIGKILL');
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
