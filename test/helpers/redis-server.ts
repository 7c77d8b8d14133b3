import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { freePort } from '../../bench/free-port.ts';
import { hasProgram } from './has-program.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

/** A real Redis on a free port of the loopback, without files. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  /** Connections stay open, but get no response. */
  freeze(): void;
  /** Kills it immediately, like a crash, and loses its data. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
}

/** Without redis-server, tests that need it are reported as skipped. */
export const hasRedis = hasProgram('redis-server');

export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  let redis = await listen(port);
  const kill = () => killServer(redis);
  return {
    url: `redis://127.0.0.1:${port}`,
    freeze: () => redis.kill('SIGSTOP'),
    kill,
    async restart() {
      await kill();
      redis = await listen(port);
    },
    [Symbol.asyncDispose]: kill,
  };
}

async function killServer(redis: ChildProcess): Promise<void> {
  if (hasEnded(redis)) return;
  const gone = once(redis, 'exit');
  running.delete(redis);
  redis.kill('SIGKILL');
  await gone;
}

function hasEnded(redis: ChildProcess): boolean {
  return redis.exitCode !== null || redis.signalCode !== null;
}

async function listen(port: number, more: readonly string[] = []): Promise<ChildProcess> {
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
  if (!hasEnded(redis)) {
    redis.stdout.resume(); // a full pipe would stop it
    redis.stdout.on('data', (chunk: Buffer) => lines.push(`${chunk}`));
    if (running.size === 0) process.once('exit', killRunning);
    running.add(redis);
    redis.once('exit', (code, signal) => {
      const isUnexpected = running.delete(redis);
      if (running.size === 0) process.off('exit', killRunning);
      if (isUnexpected) process.stderr.write(`redis-server ended with ${code ?? signal}:\n${lines.join('\n')}\n`);
    });
    return redis;
  }
  throw new Error(`redis-server did not start:\n${lines.join('\n')}`);
}

/** Those that no test has ended. */
const running = new Set<ChildProcess>();

function killRunning(): void {
  for (const redis of running) redis.kill('SIGKILL');
}

/** Three masters on the loopback, each with a third of the slots. */
export interface RedisCluster extends AsyncDisposable {
  readonly ports: readonly number[];
}

const SLOTS = 16_384;

export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = temporaryFolder();
  const nodes = new Map<number, { readonly server: ChildProcess; readonly admin: Redis }>();
  const start = async () => {
    const port = await portWithBus();
    const options = ['--cluster-enabled', 'yes', '--cluster-config-file', `${port}.conf`, '--dir', folder];
    // Long enough for a busy machine: its nodes would take each other for dead.
    const timing = ['--cluster-node-timeout', '2000', '--cluster-replica-validity-factor', '0'];
    const server = await listen(port, [...options, ...timing]);
    // As long as the server runs: a busy machine can take seconds to accept a connection.
    const retryStrategy = () => (hasEnded(server) ? null : 100);
    const admin = new Redis(port, '127.0.0.1', { retryStrategy, maxRetriesPerRequest: null });
    admin.on('error', (error) => process.stderr.write(`The connection to the cluster node ${port} failed: ${error}\n`));
    nodes.set(port, { server, admin });
    return port;
  };
  const ask = async (port: number, ...command: [string, ...(string | number)[]]) =>
    String(await nodes.get(port)?.admin.call(...command));
  const isJoined = async (port: number, known: number) => {
    const state = await ask(port, 'CLUSTER', 'INFO');
    return state.includes('cluster_state:ok') && state.includes(`cluster_known_nodes:${known}`);
  };
  const killAll = async () => {
    for (const { server, admin } of nodes.values()) {
      admin.disconnect();
      await killServer(server);
    }
  };
  const ports: number[] = [];
  const share = Math.ceil(SLOTS / 3);
  try {
    while (ports.length < 3) ports.push(await start());
    for (const [place, port] of ports.entries()) {
      await ask(port, 'CLUSTER', 'SET-CONFIG-EPOCH', place + 1);
      await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', place * share, Math.min(SLOTS, (place + 1) * share) - 1);
      if (place > 0) await ask(port, 'CLUSTER', 'MEET', '127.0.0.1', ports[0] ?? 0);
    }
    for (const port of ports) await until(() => isJoined(port, ports.length));
  } catch (error) {
    await killAll();
    throw error;
  }
  return { ports, [Symbol.asyncDispose]: killAll };
}

/** A node talks to the other nodes on a port that is 10,000 higher. */
async function portWithBus(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port <= 55_535) return port;
  }
}
