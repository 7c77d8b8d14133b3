/** The ES module, the CommonJS module and a second installation share the limit of a key and recognise each other's errors. */
const assert = require('node:assert/strict');
const { cpSync } = require('node:fs');
const { dirname, join } = require('node:path');

const second = join(__dirname, 'second/node_modules/fxrates');
const refusal = { success: false, error: { code: 'rate_limited', message: 'Too many requests', status: 429 } };

async function main() {
  cpSync(dirname(require.resolve('fxrates/package.json')), second, { recursive: true, dereference: true });
  const copies = [require('fxrates'), await import('fxrates'), require(second)];
  assert.equal(new Set(copies.map(({ FxRates }) => FxRates)).size, 3);
  let sent = 0;
  const fetch = async () => {
    sent++;
    return Response.json(refusal, { status: 429, headers: { 'retry-after': '30' } });
  };
  const options = { baseUrl: 'https://service.test', apiKey: `fx_live_${'0'.repeat(48)}`, fetch };

  for (const { FxRates } of copies) {
    const error = await new FxRates(options).latest({}, { onLimit: 'throw' }).catch((reason) => reason);
    assert.equal(error.kind, 'rate_limited');
    assert.ok(copies.every(({ FxRatesError }) => FxRatesError.is(error)));
  }
  assert.equal(sent, 1); // the other copies know of the refusal
}

void main(); // a rejection ends the process with exit code 1
