/** A user's program in CommonJS. */
const assert = require('node:assert/strict');
const { inspect } = require('node:util');
const { FxRates, FxRatesError } = require('fxrates');
const { fileStore } = require('fxrates/file-store');
const { createMockServer } = require('fxrates/mock-server');
const { mockHandlers } = require('fxrates/msw');
const { probeService } = require('fxrates/probe');
const { redisStore } = require('fxrates/redis');
const { name } = require('fxrates/package.json');

async function main() {
  const mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey();
  const fx = new FxRates({ apiKey: key, ...mock.clientOptions() });

  assert.equal((await fx.quota()).plan, 'free');
  await assert.rejects(fx.quota({ timeoutMs: -1 }), (error) => FxRatesError.is(error) && error.kind === 'config');
  assert.deepEqual([FxRates.name, FxRatesError.name], ['FxRates', 'FxRatesError']);
  assert.deepEqual([fileStore, redisStore, probeService].map((one) => typeof one), Array(3).fill('function'));
  assert.throws(() => mockHandlers(mock), { code: 'msw_missing' });
  assert.equal(name, 'fxrates');
  // The code of Node and Deno; Bun has the other one.
  assert.throws(() => require('fxrates/dist/index.cjs'), { code: /ERR_PACKAGE_PATH_NOT_EXPORTED|MODULE_NOT_FOUND/ });
  // Not `inspect(globalThis)`, in which Bun shows the paths of the process.
  const shown = Reflect.ownKeys(globalThis).filter((name) => Object.prototype.propertyIsEnumerable.call(globalThis, name));
  assert.doesNotMatch(shown.map(String).join(), /fxrates/);
  // Bun cannot inspect the error of the failed `require` above, which `globalThis` keeps.
  if (!process.versions.bun) assert.equal(inspect(globalThis, { showHidden: true, depth: 5 }).includes(key), false);
}

void main(); // a rejection ends the process with exit code 1
