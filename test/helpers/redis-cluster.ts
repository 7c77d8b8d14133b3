import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, listen } from './redis-server.ts';
import { until } from './until.ts';

/** Three masters on the loopback, each with a third of the slots; `addReplicaOf` starts a replica of one of them. */
export interface RedisCluster extends AsyncDisposable {
  readonly ports: readonly number[];
  /** The master that holds a key. */
  ownerOf(key: string): Promise<number>;
  /** Starts a replica of the master on `port`; resolves when it has all data. */
  addReplicaOf(port: number): Promise<number>;
  /** Kills a node immediately, like a crash. */
  kill(port: number): Promise<void>;
  /** Starts a killed node again on its port; the others make it a replica of the node that replaced it. */
  restart(port: number): Promise<void>;
  /** Resolves when the node on `port` is a master. */
  promoted(port: number): Promise<void>;
}

const SLOTS = 16_384;

export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'fxrates-cluster-'));
  const nodes = new Map<number, { readonly process: ChildProcess; readonly admin: Redis }>();
  const start = async (port: number) => {
    const options = ['--cluster-enabled', 'yes', '--cluster-config-file', `${port}.conf`, '--dir', folder];
    const timing = ['--cluster-node-timeout', '500', '--cluster-replica-validity-factor', '0'];
    const process = await listen(port, [...options, ...timing]);
    nodes.set(port, { process, admin: new Redis(port, '127.0.0.1', { retryStrategy: () => null }) });
    return port;
  };
  const ask = async (port: number, ...command: [string, ...(string | number)[]]) =>
    String(await nodes.get(port)?.admin.call(...command));
  const isJoined = async (port: number, known: number) => {
    const state = await ask(port, 'CLUSTER', 'INFO');
    return state.includes('cluster_state:ok') && state.includes(`cluster_known_nodes:${known}`);
  };
  const ports = [await start(await portWithBus()), await start(await portWithBus()), await start(await portWithBus())];
  const [first = 0] = ports;
  const share = Math.ceil(SLOTS / ports.length);
  for (const [place, port] of ports.entries()) {
    await ask(port, 'CLUSTER', 'SET-CONFIG-EPOCH', place + 1);
    await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', place * share, Math.min(SLOTS, (place + 1) * share) - 1);
    if (port !== first) await ask(port, 'CLUSTER', 'MEET', '127.0.0.1', first);
  }
  for (const port of ports) await until(() => isJoined(port, ports.length));

  const kill = async (port: number) => {
    const node = nodes.get(port);
    if (!node) return;
    nodes.delete(port);
    node.admin.disconnect();
    const gone = once(node.process, 'exit');
    node.process.kill('SIGKILL');
    await gone;
  };
  return {
    ports,
    async ownerOf(key) {
      const slot = Number(await ask(first, 'CLUSTER', 'KEYSLOT', key));
      return ports[Math.floor(slot / share)] ?? first;
    },
    async addReplicaOf(master) {
      const port = await start(await portWithBus());
      await ask(port, 'CLUSTER', 'MEET', '127.0.0.1', master);
      for (const each of [port, ...ports]) await until(() => isJoined(each, ports.length + 1));
      await ask(port, 'CLUSTER', 'REPLICATE', await ask(master, 'CLUSTER', 'MYID'));
      await until(async () => (await ask(port, 'INFO', 'replication')).includes('master_link_status:up'));
      const others = ports.filter((other) => other !== master);
      for (const other of others) await until(async () => (await ask(other, 'CLUSTER', 'NODES')).includes('slave'));
      return port;
    },
    kill,
    async restart(port) {
      await start(port);
    },
    promoted: (port) => until(async () => (await ask(port, 'INFO', 'replication')).includes('role:master')),
    async [Symbol.asyncDispose]() {
      for (const port of [...nodes.keys()]) await kill(port);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A node talks to the other nodes on a port that is 10,000 higher. */
async function portWithBus(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port <= 55_535) return port;
  }
}
