import { Agent, interceptors, MockAgent, ProxyAgent, setGlobalDispatcher } from 'undici';
import { FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { startConnectProxy } from '../../helpers/connect-proxy.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

/** The dispatcher of Node's own undici, in any version: the built-in fetch makes it the global one. */
async function builtInDispatcher(url: string): Promise<Agent> {
  await (await fetch(url)).text();
  return (globalThis as unknown as Record<symbol, Agent>)[Symbol.for('undici.globalDispatcher.1')]!;
}

function mockAgent(url: string): MockAgent {
  const agent = new MockAgent();
  agent.disableNetConnect();
  const pool = agent.get(url);
  const headers = { 'content-type': 'application/json', 'x-twice': ['a', 'b'] };
  pool.intercept({ path: '/api/v1/latest?ok=1' }).reply(200, { success: true, data: { mocked: true } }, { headers });
  pool.intercept({ path: '/api/v1/latest?reset=1' }).replyWithError(new Error('mocked failure')).times(3);
  pool.intercept({ path: '/api/v1/latest?long=1' }).reply(200, 'x'.repeat(20_000));
  pool.intercept({ path: '/api/v1/latest?stall=1' }).reply(200, '{}').delay(100_000);
  return agent;
}

const scenes = {
  'nothing before': async () => ({}),
  'the built-in fetch before': async (url) => {
    await builtInDispatcher(url);
    return {};
  },
  "Node's own dispatcher": async (url) => ({ dispatcher: await builtInDispatcher(url) }),
  'an Agent': async () => ({ dispatcher: new Agent({ connections: 1 }) }),
  'an Agent with interceptors': async () => ({
    dispatcher: new Agent().compose(interceptors.dns(), interceptors.retry({ maxRetries: 0 })),
  }),
  'a MockAgent': async (url) => ({ dispatcher: mockAgent(url) }),
  'a global MockAgent': async (url) => {
    setGlobalDispatcher(mockAgent(url));
    return {};
  },
  'a proxy': async (url) => {
    const proxy = await startConnectProxy({ port: Number(new URL(url).port) });
    return { dispatcher: new ProxyAgent({ uri: proxy.url, proxyTunnel: true }) };
  },
} satisfies Record<string, (url: string) => Promise<FxRatesOptions>>;

export type Scene = keyof typeof scenes;

export interface Ending {
  readonly data?: unknown;
  readonly kind?: string;
  readonly message?: string;
}

/** Results of four calls: a served one, a reset one, one with a long body, and one that stalls. */
export async function play(scene: Scene, url: string): Promise<Record<string, Ending>> {
  const options = await scenes[scene](url);
  const fx = new FxRates({ baseUrl: url, apiKey: API_KEY, maxRetries: 0, maxResponseBytes: 10_000, ...options });
  const endings: Record<string, Ending> = {};
  for (const name of ['ok', 'reset', 'long', 'stall']) {
    endings[name] = await fx.latest({ [name]: 1 }, { timeoutMs: name === 'stall' ? 50 : 5000 }).then(
      (data) => ({ data }),
      ({ kind, message }) => ({ kind, message }),
    );
  }
  return endings;
}

/**
 * Run as a program, plays scenes in a process of its own, because the first to use undici decides who owns the global
 * dispatcher. Arguments: the URL of the server, and the scenes. Prints their endings as one line of JSON.
 */
if (process.argv[1] === import.meta.filename) {
  const [url = '', ...names] = process.argv.slice(2);
  const endings: Record<string, unknown> = {};
  for (const scene of names) endings[scene] = await play(scene as Scene, url);
  process.stdout.write(`${JSON.stringify(endings)}\n`);
  process.exit(0);
}
