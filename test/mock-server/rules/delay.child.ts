/** Sends requests whose responses do not arrive. The timer of `AbortSignal.timeout` alone does not keep a process running. */
import { createMockServer } from '../../../src/mock-server/index.ts';

const mock = createMockServer({ clock: { mode: 'virtual', frozen: true } });
for (const [name, rule] of [
  ['hang', { fail: { kind: 'hang' } }],
  ['delay', { delayMs: 60_000 }],
] as const) {
  mock.rules.clear();
  mock.rules.add(rule);
  const sent = mock.fetch(`${mock.baseUrl}/api/v1/quota`, { signal: AbortSignal.timeout(50) });
  process.stdout.write(`${name}: ${await sent.catch((error: Error) => error.name)}\n`);
}
