/** Sends requests whose responses do not arrive. The timer of `AbortSignal.timeout` alone does not keep a process running. */
import { createMockServer } from '../../../src/mock-server/index.ts';

const mock = createMockServer({ clock: { mode: 'virtual', frozen: true } });
for (const fault of [{ kind: 'hang' }, { kind: 'latency', latencyMs: 60_000 }] as const) {
  mock.faults.clear();
  mock.faults.add(fault);
  const sent = mock.fetch(`${mock.baseUrl}/api/v1/quota`, { signal: AbortSignal.timeout(50) });
  process.stdout.write(`${fault.kind}: ${await sent.catch((error: Error) => error.name)}\n`);
}
