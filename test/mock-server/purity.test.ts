import { expect, test } from 'vitest';
import { runScript } from '../helpers/child-program.ts';

test('with a virtual clock the mock uses neither time, randomness nor timers of the machine', async () => {
  const { stdout } = await runScript(`
    const { createMockServer } = await import('./src/mock-server/index.ts');
    const forbid = (what) => () => { throw new Error(what + ' was called'); };
    Date.now = forbid('Date.now');
    performance.now = forbid('performance.now');
    Math.random = forbid('Math.random');
    crypto.getRandomValues = forbid('getRandomValues');
    const RealDate = Date;
    globalThis.Date = class extends RealDate {
      constructor(...given) {
        if (given.length === 0) throw new Error('new Date() was called');
        super(...given);
      }
    };
    globalThis.setTimeout = forbid('setTimeout');
    globalThis.setInterval = forbid('setInterval');
    const mock = createMockServer({ clock: 'virtual' });
    const { key } = mock.createKey();
    const send = (path) => mock.fetch(mock.baseUrl + path, { headers: { authorization: 'Bearer ' + key } });
    for (let request = 0; request < 31; request += 1) await send('/api/v1/latest');
    await mock.clock.sleep(60_000);
    await mock.clock.advanceTo('quota-reset');
    mock.restore(mock.snapshot());
    console.log((await send('/api/v1/quota')).status, (await send('/nothing')).status);
    mock.reset();
  `);

  expect(stdout.trim()).toBe('200 404');
});

test('the mock works without msw; features that need it name the install command', async () => {
  const { stdout } = await runScript(`
    import Module from 'node:module';
    const resolve = Module._resolveFilename;
    Module._resolveFilename = function (request, ...rest) {
      if (/^msw/.test(request)) throw Object.assign(new Error("Cannot find module '" + request + "'"), { code: 'MODULE_NOT_FOUND' });
      return resolve.call(this, request, ...rest);
    };
    const { createMockServer } = await import('./src/mock-server/index.ts');
    const mock = createMockServer({ clock: 'virtual' });
    const status = (await mock.fetch(mock.baseUrl)).status;
    const errors = [() => mock.handlers, () => mock.listen()].map((act) => {
      try { act(); return 'no error'; } catch (error) { return error.code + ': ' + error.message; }
    });
    console.log(JSON.stringify([status, ...errors]));
  `);

  const told = `msw_missing: msw is not installed; run npm i -D msw${process.versions.node < '22' ? '@2' : ''}.`;
  expect(JSON.parse(stdout)).toEqual([404, told, told]);
});
