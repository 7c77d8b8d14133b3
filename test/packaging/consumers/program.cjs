/** A user's program in CommonJS. Both module systems of a process share one copy of the package. */
const assert = require('node:assert/strict');
const { FxRates, FxRatesError } = require('fxrates');
const { fileStore } = require('fxrates/file-store');
const { createMockServer } = require('fxrates/mock-server');
const { redisStore } = require('fxrates/redis');
const { name } = require('fxrates/package.json');

async function main() {
  const mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey();
  const fx = new FxRates({ apiKey: key, ...mock.clientOptions() });

  assert.equal((await fx.quota()).plan, 'free');
  assert.equal((await import('fxrates')).FxRatesError, FxRatesError);
  assert.equal(FxRates.name, 'FxRates');
  assert.deepEqual([typeof fileStore, typeof redisStore], ['function', 'function']);
  assert.equal(name, 'fxrates');
  // The code of Node and Deno; Bun has the other one.
  assert.throws(() => require('fxrates/dist/index.js'), { code: /ERR_PACKAGE_PATH_NOT_EXPORTED|MODULE_NOT_FOUND/ });
}

void main(); // a rejection ends the process with exit code 1
