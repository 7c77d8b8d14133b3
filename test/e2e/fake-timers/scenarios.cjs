/** What docs/testing.md promises about fake timers. Each runner passes its own: `advance` moves them by milliseconds. */
const assert = require('node:assert/strict');
const { subscribe, unsubscribe } = require('node:diagnostics_channel');

/** Clients with the same key share what they know of its limit. Another seed makes another key. */
let seed = 0;

/** The scenarios with one build of the package. */
exports.scenariosWith = ({ FxRates, createMockServer }) => {
  /** A call that waits in the mock, and for a retry, by default for 5 s and 2 s. */
  function slowCall(clock, { latencyMs = 5000, headers = { 'retry-after': '2' } } = {}) {
    const mock = createMockServer({ clock, seed: ++seed });
    mock.rules.add({ times: 1, delayMs: latencyMs });
    mock.rules.add({ times: 1, respond: { status: 503, headers } });
    return new FxRates({ apiKey: mock.createKey().key, ...mock.clientOptions() }).latest().withMeta();
  }

  function statusesOf({ meta }) {
    return meta.attempts.map(({ status }) => status);
  }

  /** A real clock follows fake timers. */
  async function waitsFollow(advance) {
    let hasEnded = false;
    const call = slowCall('real').finally(() => {
      hasEnded = true;
    });
    await advance(4000);
    assert.equal(hasEnded, false);
    await advance(6000);
    assert.deepEqual(statusesOf(await call), [503, 200]);
  }

  /** With a date that stands still and real timers, waits end in real time. */
  async function waitsEnd() {
    assert.deepEqual(statusesOf(await slowCall('real', { latencyMs: 20, headers: {} })), [503, 200]);
  }

  /** A virtual clock needs no fake timers, and works with them. */
  async function virtualWaitsEnd() {
    assert.deepEqual(statusesOf(await slowCall('virtual')), [503, 200]);
  }

  /** Clients and mocks used under fake timers wait and time out after `restore()`, also if a call was left waiting. */
  async function worksAfter(restore) {
    const mock = createMockServer({ seed: ++seed });
    const options = { apiKey: mock.createKey().key, ...mock.clientOptions(), maxRetries: 0 };
    const clients = [new FxRates(options), new FxRates({ ...options, clock: undefined })];
    for (const fx of clients) await fx.latest();
    mock.rules.add({ fail: { kind: 'hang' } });
    const left = clients.map((fx) => fx.latest({ left: 'waiting' }).catch(() => undefined));
    for (let turn = 0; turn < 100; turn += 1) await undefined; // they are sent
    restore();
    for (const fx of clients) await assert.rejects(fx.latest({}, { timeoutMs: 20 }), { kind: 'timeout' });
    mock.rules.clear();
    await Promise.all(left);
    for (const fx of clients) await Promise.all(Array.from({ length: 10 }, (_, n) => fx.latest({ n })));
    await worksOverSockets();
  }

  /** Calls use an open connection again, also if timers were faked when the package was loaded. */
  async function worksOverSockets() {
    const mock = createMockServer({ seed: ++seed });
    const server = await mock.serve();
    const fx = new FxRates({ apiKey: mock.createKey().key, baseUrl: server.url, maxRetries: 0 });
    let connections = 0;
    const count = () => {
      connections += 1;
    };
    subscribe('undici:client:connected', count);
    for (let n = 0; n < 3; n += 1) {
      await fx.latest({ socket: n });
      await new Promise((resolve) => setImmediate(resolve)); // the connection is free
    }
    unsubscribe('undici:client:connected', count);
    await server.close();
    assert.equal(connections, 1);
  }

  return { waitsFollow, waitsEnd, virtualWaitsEnd, worksAfter };
};
