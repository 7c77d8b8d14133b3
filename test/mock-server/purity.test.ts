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

const MAJOR = process.versions.node < '22' ? '@2' : '';
const NOT_LOADED =
  'for Jest, and the pools of vitest, see the section jest of docs/testing.md in the package fxrates, or use mock.serve().';

test.each([
  ["MODULE_NOT_FOUND: Cannot find module 'msw'", `msw is not installed; run npm i -D msw${MAJOR}.`],
  ['ERR_REQUIRE_ESM: Must use import\n\nEither:', `msw cannot be loaded (Error: Must use import); ${NOT_LOADED}`],
  ['undefined: Cannot use import', `msw cannot be loaded (Error: Cannot use import); ${NOT_LOADED}`],
])('the mock works without msw; if msw fails with %j, what needs it names the next step', async (failure, told) => {
  const { stdout } = await runScript(`
    import Module from 'node:module';
    const resolve = Module._resolveFilename;
    Module._resolveFilename = function (request, ...rest) {
      const [code, message] = ${JSON.stringify(failure.split(': '))};
      if (/^msw/.test(request) && !request.endsWith('.json')) throw Object.assign(new Error(message), { code });
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

  expect(JSON.parse(stdout)).toEqual([404, `msw_missing: ${told}`, `msw_missing: ${told}`]);
});
