import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { connectMockServer } from '../../../../src/mock-server/index.ts';
import { type FakeIoOptions, jsonLines, runCli, usageError } from '../../../helpers/cli-io.ts';
import { fileOf, temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { type Ready, startMock, withMock } from './running-mock.ts';

async function usedOf({ url, key }: Ready): Promise<number> {
  const response = await fetch(`${url}/api/v1/quota`, { headers: { authorization: key } });
  return JSON.parse(await response.text()).data.monthly_used;
}

const spend = ({ url, key }: Ready) => fetch(`${url}/api/v1/latest`, { headers: { authorization: key } });
const newState = () => join(temporaryFolder(), 'state.json');

test('--state restores the last run with its key; another plan creates a new one; the file contains no key', async () => {
  const state = newState();
  const first = await withMock(['--state', state], async (ready) => {
    await spend(ready);
    await spend(ready);
    return ready;
  });

  const second = await withMock(['--state', state], async (ready) => ({ ...ready, used: await usedOf(ready) }));
  const third = await withMock(['--state', state, '--plan', 'developer'], async (ready) => {
    return { ...ready, ofFirst: await usedOf({ ...ready, key: first.key }) };
  });

  expect(second).toMatchObject({ key: first.key, used: 2 });
  expect(third).toMatchObject({ key: expect.not.stringContaining(first.key), ofFirst: 2 });
  expect(readFileSync(state, 'utf8')).not.toContain(first.key);
});

const ADDITIONAL = 'the printed key is an additional one in the state; POST /__fxrates/reset removes it';

test.each<[args: readonly string[], isAdditional: boolean]>([
  [[], false],
  [['--plan', 'developer'], true],
  [['--limit', '2/1s'], true],
  [['--seed', '7'], true],
])('with a state, a warning says whether a reset removes the key of %j', async (args, isAdditional) => {
  const state = newState();
  await withMock(['--state', state], async () => undefined);
  const { io, stop } = await startMock(['--json', '--state', state, ...args]);
  const ready: Ready = JSON.parse(io.written.stdout);

  await connectMockServer(ready.adminUrl).reset();

  const { status } = await spend(ready);
  const { stderr } = await stop();
  expect([status, stderr.includes(ADDITIONAL)]).toEqual([isAdditional ? 401 : 200, isAdditional]);
});

test('a file that exists overrides some options, and one warning names those that were typed', async () => {
  const state = newState();
  const setup = fileOf('setup.json', '{}');
  const replay = fileOf('rates.json', '{ "*": { "USD": 1 } }');
  const given = ['--seed', '0', '--now', '2026-01-31T23:59:00Z'];
  const warnings = async (args: readonly string[]) => {
    const { stderr } = await (await startMock(['--json', '--state', state, ...args])).stop();
    return jsonLines(stderr).flatMap(({ event, message }) => (event === 'warning' ? [message] : []));
  };
  const advice = 'move it away to start with an empty state';

  writeFileSync(state, ''); // as mktemp creates it: no state
  expect(await warnings(given)).toEqual([]);
  expect(await warnings([])).toEqual([ADDITIONAL]); // of another seed
  expect(await warnings(given)).toEqual([`${state} exists, which overrides --now, --seed; ${advice}`]);
  expect(await warnings(['--setup', setup, '--frozen'])).toEqual([
    `${state} exists, which overrides --frozen, --setup; ${advice}`,
    ADDITIONAL,
  ]);
  // The command line takes precedence.
  await warnings(['--replay', fileOf('earlier.json', '{ "base=EUR": { "USD": 2 } }')]);
  expect(await warnings(['--replay', replay])).toEqual([ADDITIONAL]);
  const { rules } = JSON.parse(readFileSync(state, 'utf8')).snapshot;
  expect(rules).toMatchObject([{ id: 'recorded', respond: [{ body: expect.stringContaining('"USD": 1') }] }]);
});

test('a state overrides --setup: the keys are those of the first run, as they are now', async () => {
  const state = newState();
  const setup = fileOf(
    'setup.json',
    '{ "keys": [{ "plan": "developer" }, {}, {}], "rules": [{ "id": "latest", "respond": { "data": {} } }] }',
  );
  const args = ['--state', state, '--setup', setup];
  const first = await withMock(args, async (ready) => {
    await spend(ready);
    const remote = connectMockServer(ready.adminUrl);
    await remote.keys.revoke('key_2');
    await remote.latest.reset();
    return ready;
  });

  const second = await withMock(args, async (ready) => {
    const text = await (await spend(ready)).text();
    return { ...ready, text, used: await usedOf(ready) };
  });

  expect(first.keys?.map(({ id }) => id)).toEqual(['key_1', 'key_2', 'key_3']);
  expect(second).toMatchObject({ key: first.key, used: 2, text: expect.stringContaining('"base":"USD"') });
  expect(second.keys).toMatchObject([{ id: 'key_1' }, { id: 'key_2', state: 'revoked' }, { id: 'key_3' }]);
});

test('a state of another setup never prints one key twice', async () => {
  const state = newState();
  await withMock(['--state', state], async (ready) => ready);
  const setup = fileOf('setup.json', JSON.stringify({ keys: [{ plan: 'developer' }, { plan: 'developer' }] }));

  const second = await withMock(['--state', state, '--setup', setup], async (ready) => ready);

  expect(second.plan).toBe('developer');
  expect(second).not.toHaveProperty('keys'); // the list of more than one
});

test('--behaviour overrides the switches in the file', async () => {
  const state = newState();
  await withMock(['--state', state], async () => undefined);

  const status = await withMock(['--state', state, '--behaviour', 'hostile'], async ({ url, key }) => {
    const response = await fetch(`${url}/api/v1/quota?api_key=another`, { headers: { authorization: key } });
    return response.status;
  });

  expect(status).toBe(403);
});

test('a state file that cannot be written at the end leaves the exit code of the command', async () => {
  const state = newState();
  const spawn: FakeIoOptions['spawn'] = () => {
    rmSync(dirname(state), { recursive: true });
    return { exited: Promise.resolve({ code: 7, signal: null }), kill: () => undefined };
  };

  const { code, stderr } = await runCli(['mock', '--state', state, '--', 'npm', 'test'], { spawn });

  expect(code).toBe(7);
  expect(stderr).toMatch(/fxrates: the state file .* (cannot be written|is now in use)/s);
  expect(stderr).not.toContain('bug');
});

test('a state file that cannot be written at the end of a server is exit code 1', async () => {
  const state = newState();
  const { io, exited } = await startMock(['--state', state]);
  rmSync(dirname(state), { recursive: true });
  io.interrupt('SIGTERM');

  expect(await exited).toBe(1);
  expect(io.written.stderr).not.toContain('bug');
});

test('a damaged state file is rejected with its name and the next step', async () => {
  const state = newState();
  writeFileSync(state, '{"format":"fxr');

  const stderr = await usageError(['mock', '--port', '0', '--state', state]);

  expect(stderr.replace(/\s+/g, ' ')).toContain(`the state file ${state} is damaged`.replace(/\s+/g, ' '));
  expect(stderr.replace(/\s+/g, ' ')).toContain('move it away to start with an empty state');
});

test.skipIf(process.getuid?.() === 0)('a state file without permission is not reported as a port', async () => {
  const state = newState();
  writeFileSync(state, '', { mode: 0 });

  expect(await usageError(['mock', '--port', '0', '--state', state])).toContain('(EACCES)');
});
