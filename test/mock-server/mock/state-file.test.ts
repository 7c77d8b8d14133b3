import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Behaviour } from '../../../src/mock-server/behaviour/behaviour.ts';
import { connectMockServer, createMockServer, type MockServer } from '../../../src/mock-server/index.ts';
import { readStateFile, StateFile } from '../../../src/mock-server/mock/state-file.ts';
import { isAbandoned, type LockOwner } from '../../../src/mock-server/mock/state-lock.ts';
import { bundledProgram } from '../../helpers/child-program.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { STILL, sender } from '../../helpers/mock-with-key.ts';
import { servedMock } from '../../helpers/served-mock.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { until } from '../../helpers/until.ts';

const CHILD = await bundledProgram(new URL('./state-file.child.ts', import.meta.url));

function start(...args: readonly string[]) {
  return fork(CHILD, args);
}

async function kill(child: ReturnType<typeof start>): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const savedIn = (path: string) => readStateFile(path, new Behaviour({}));

test('a mock restores keys, usage, windows, clock, switches and faults from its state file', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const { mock, call } = await servedMock({ clock: STILL, seed: 7, state });
  const { key, id } = mock.createKey();
  mock.behaviour.set({ rateWindow: 'token-bucket' });
  mock.rules.add({ times: 5, delayMs: 0 });
  await mock.clock.advance(1234);
  await call(key);
  await mock.close();

  await using next = await servedMock({ clock: STILL, state });
  const again = next.mock;

  expect(again.snapshot()).toEqual(mock.snapshot());
  expect(again.keys.get(id).month.used).toBe(1);
  expect((await next.call(key, '/api/v1/quota')).status).toBe(200);
  expect(readFileSync(state, 'utf8')).not.toContain(key.slice(-48));
  expect(statSync(state).mode & 0o077).toBe(0);
});

test('a killed server loses no request to which it had just responded', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const child = start('serve', state);
  const [{ key, url, adminUrl }] = await once(child, 'message');
  const used = () => savedIn(state)?.snapshot.keys[0]?.used;

  for (let call = 0; call < 3; call += 1) await fetch(`${url}/api/v1/latest`, { headers: { authorization: key } });
  await until(() => used() === 3);
  await connectMockServer(adminUrl).keys.setUsage('key_1', { month: 500 });
  await until(() => used() === 500);
  await kill(child);

  await using mock = createMockServer({ state });
  expect(mock.keys.get('key_1').month.used).toBe(500);
  expect(new Date(mock.clock.now()).toISOString()).toMatch(/^2026-01-15T00:/);
});

test.each([
  ['serve()', (mock: MockServer) => mock.serve()],
  ['listen()', async (mock: MockServer) => mock.listen()],
])('%s of a closed mock is refused before it touches the released file', async (_, open) => {
  const state = join(temporaryFolder(), 'state.json');
  const mock = createMockServer({ state });
  await mock.close();

  await expect(open(mock)).rejects.toMatchObject({ code: 'mock_closed' });

  expect(existsSync(`${state}.lock`)).toBe(false);
  await createMockServer({ state }).close();
});

/** Files beside the state file that a writer renames onto it. */
function temporaryOf(path: string): string[] {
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)) && name.endsWith('.tmp'));
  return names.map((name) => join(dirname(path), name));
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

test('kill -9 during a write leaves the complete old or new file', async () => {
  const folder = temporaryFolder();
  const interrupted: boolean[] = [];
  for (let round = 0; round < 3; round += 1) {
    const path = join(folder, `state-${round}.json`);
    const child = start('write', path, '5000');
    await once(child, 'message');
    // At a different step of the write each time.
    await until(() => temporaryOf(path).some((file) => sizeOf(file) >= round * 400_000));
    await kill(child);

    interrupted.push(temporaryOf(path).length > 0);
    const saved = savedIn(path);
    expect(saved?.snapshot.keys).toHaveLength(5000 + (saved?.savedAt ?? 0));
  }

  expect(interrupted).toContain(true);
});

test('temporary files of a killed writer are removed at the next start, and no other files', async () => {
  const state = join(temporaryFolder(), 'state.json');
  writeFileSync(`${state}.7c9e6679-7425-40de-944b-e07fc1f90ae7.tmp`, '{"format":');
  const others = ['state.json.notes.tmp', 'state.json.bak.7c9e6679-7425-40de-944b-e07fc1f90ae7.tmp'];
  for (const name of others) writeFileSync(join(dirname(state), name), 'mine');

  await createMockServer({ state }).close();

  expect(readdirSync(dirname(state)).sort()).toEqual(['state.json', ...others].sort());
  expect(savedIn(state)?.snapshot.keys).toEqual([]);
});

const whole = { format: 'fxrates-mock-state', version: 1, savedAt: 0, snapshot: createMockServer().snapshot() };

const withSwitch = (behaviour: object) => JSON.stringify({ ...whole, snapshot: { ...whole.snapshot, behaviour } });
const OR_BEGIN = 'use the release that wrote it, or move it away to start with an empty state.';

test.each([
  [' ', 'is damaged: it is not a JSON object; restore a copy, or move it away to start with an empty state.'],
  [JSON.stringify(whole).slice(0, -9), 'is damaged: it is not a JSON object'],
  ['[]', 'is not the state of a mock server and was not changed; use another file.'],
  ['{"name":"my-package"}', 'is not the state of a mock server'],
  [JSON.stringify({ ...whole, version: 2 }), `has version 2, but this release of fxrates reads version 1; ${OR_BEGIN}`],
  [
    withSwitch({ rateWindow: 'round' }),
    'cannot be restored: snapshot.behaviour.rateWindow is "round"; expected one of',
  ],
  [JSON.stringify({ ...whole, savedAt: 1e300 }), 'is damaged: savedAt is no time'],
  [JSON.stringify({ ...whole, savedAt: -1e300 }), 'is damaged: savedAt is no time'],
])('a file with %s is rejected by name, and is not changed', async (text, message) => {
  const state = join(temporaryFolder(), 'state.json');
  writeFileSync(state, text);

  const creating = () => createMockServer({ state });

  expect(creating).toThrow(expect.objectContaining({ name: 'MockServerError', code: 'state_unusable' }));
  expect(creating).toThrow(`The state file ${state} ${message}`);
  expect(readFileSync(state, 'utf8')).toBe(text);
  expect(readdirSync(dirname(state))).toEqual(['state.json']);
});

test('setupKeys has only the keys of the setup that the state file has, until a reset', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const setup = { keys: [{}] };
  const first = createMockServer({ seed: 1, setup, state });
  await first.close();

  await using same = createMockServer({ seed: 1, setup: { keys: [{}, {}] }, state });
  const { setupKeys } = same;
  await same.close();
  await using other = createMockServer({ seed: 2, setup, state });

  expect([setupKeys, other.setupKeys]).toEqual([first.setupKeys, []]);
  other.reset();
  const [{ key = '' } = {}] = other.setupKeys;
  expect((await sender(other, key)()).status).toBe(200);
});

test('the option behaviour overrides the switches of the state file', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const first = createMockServer({ state, behaviour: { rateWindow: 'fixed-epoch', etag: 'strong' } });
  await first.close();

  await using other = createMockServer({ state, behaviour: { rateWindow: 'token-bucket' } });

  expect(other.behaviour.values).toMatchObject({ rateWindow: 'token-bucket', etag: 'strong' });
});

test('an empty file, such as one of mktemp, is an empty state', async () => {
  const state = join(temporaryFolder(), 'state.json');
  writeFileSync(state, '');

  await createMockServer({ state }).close();

  expect(savedIn(state)?.snapshot.keys).toEqual([]);
});

/** As on a full disk: the file is created or truncated, and nothing is written. */
function onFullDisk(flag: string) {
  const fs = createRequire(import.meta.url)('node:fs');
  const original = fs.writeFileSync;
  fs.writeFileSync = (path: string, text: string, options: { flag: string }) => {
    original(path, options.flag === flag ? '' : text, options);
    if (options.flag === flag) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  };
  syncBuiltinESMExports();
  const restore = () => {
    fs.writeFileSync = original;
    syncBuiltinESMExports();
  };
  onTestFinished(restore); // also if the test fails
  return restore;
}

test('a full disk leaves no lock that refuses the next mock', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const creating = () => createMockServer({ state });
  const restore = onFullDisk('wx');

  expect(creating).toThrow('cannot be written (ENOSPC)');
  restore();
  await creating().close();
});

test('the relative path of a state file is in the working directory of the start', async () => {
  const folder = temporaryFolder();
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const mock = createMockServer({ state: 'state.json' });
  cwd.mockRestore();

  await mock.close();

  expect(readdirSync(folder)).toEqual(['state.json']);
});

test('rejects an unwritable state file', () => {
  const state = join(temporaryFolder(), 'no', 'such', 'folder', 'state.json');

  expect(() => createMockServer({ state })).toThrow(
    `The state file ${state} cannot be written (ENOENT); check permissions and free space, or use another file.`,
  );
});

test('real time continues while the mock does not run; a frozen clock does not', async () => {
  const hourAgo = Date.now() - 3_600_000;
  const resumed = async (frozen: boolean, savedAt = hourAgo) => {
    const state = join(temporaryFolder(), 'state.json');
    const snapshot = { ...whole.snapshot, now: Date.UTC(2026, 0, 15), frozen };
    writeFileSync(state, JSON.stringify({ ...whole, savedAt, snapshot }));
    await using mock = createMockServer({ state });
    return new Date(mock.clock.now()).toISOString();
  };

  expect(await resumed(false)).toMatch(/^2026-01-15T01:0/);
  expect(await resumed(true)).toBe('2026-01-15T00:00:00.000Z');
  // The clock of the machine was set back by an hour.
  expect(await resumed(false, Date.now() + 3_600_000)).toMatch(/^2026-01-15T00:0/);
});

test('warns about a disk error while serving, writes again after it, and throws it on close', async () => {
  const folder = temporaryFolder();
  const state = join(folder, 'state.json');
  const mock = createMockServer({ state });
  const server = await mock.serve();
  const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  rmSync(folder, { recursive: true });

  await fetch(`${server.url}/api/v1/latest`);
  await expect.poll(() => warnings.mock.calls.length).toBeGreaterThan(0);
  expect(warnings.mock.calls[0]).toEqual([expect.stringContaining(state), 'FxratesMockWarning']);
  mkdirSync(folder);
  await fetch(`${server.url}/api/v1/latest`);
  await expect.poll(() => existsSync(state)).toBe(true);

  rmSync(folder, { recursive: true });
  await expect(mock.close()).rejects.toMatchObject({ code: 'state_unusable' });
});

test('a mock that cannot write its last state releases the file', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const mock = createMockServer({ state });
  await mock.serve();
  rmSync(state);
  mkdirSync(state);

  await expect(mock.close()).rejects.toMatchObject({ code: 'state_unusable' });
  rmSync(state, { recursive: true });

  await createMockServer({ state }).close();
  expect(existsSync(`${state}.lock`)).toBe(false);
});

test('a link to a state file in use is refused', async () => {
  const state = join(temporaryFolder(), 'state.json');
  await createMockServer({ state }).close();
  await using _mock = createMockServer({ state });
  symlinkSync(state, `${state}.link`);

  expect(() => createMockServer({ state: `${state}.link` })).toThrow(expect.objectContaining({ code: 'state_in_use' }));
});

test('a faked date does not make the lock of another host look abandoned', () => {
  const state = join(temporaryFolder(), 'state.json');
  const other = { host: 'other', pid: process.pid, id: 'other' };
  writeFileSync(`${state}.lock`, JSON.stringify(other));
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);

  expect(() => createMockServer({ state })).toThrow(expect.objectContaining({ code: 'state_in_use' }));
  expect(readdirSync(dirname(state))).toEqual(['state.json.lock']);
});

/** A served mock with a state file and a space, and the calls of `write()` since the last change. */
async function persisted() {
  const state = join(temporaryFolder(), 'state.json');
  const served = await servedMock({ clock: STILL, state });
  const { key } = served.mock.createKey();
  const space = served.mock.space();
  const write = vi.spyOn(StateFile.prototype, 'write');
  return { ...served, key, space, write, used: () => savedIn(state)?.snapshot.keys[0] };
}

type Persisted = Awaited<ReturnType<typeof persisted>>;

test.each<[string, (it: Persisted) => Promise<{ readonly status: number }>]>([
  ['GET /keys', ({ admin }) => admin('GET', '/keys')],
  ['HEAD /clock', ({ admin }) => admin('HEAD', '/clock')],
  ['GET /spaces', ({ admin }) => admin('GET', '/spaces')],
  ['POST /requests/find', ({ admin }) => admin('POST', '/requests/find', {})],
  ['a page of the panel', ({ server }) => fetch(`${server.url}/__fxrates/`)],
  ['a request in a space', ({ call, space }) => call(space.key)],
  ['a request in a space in process', ({ mock, space }) => sender(mock, space.key)()],
  ['a change of a space', ({ admin, space }) => admin('PATCH', `/spaces/${space.name}/behaviour`, { etag: 'weak' })],
])('%s does not write the state', async (_, call) => {
  await using it = await persisted();

  for (let calls = 0; calls < 3; calls += 1) expect((await call(it)).status).toBeLessThan(300);
  await quiet();

  expect(it.write).not.toHaveBeenCalled();
});

test.each<[string, (it: Persisted) => Promise<unknown>, object]>([
  ['a request', ({ call, key }) => call(key), { used: 1 }],
  ['PUT /keys/key_1/usage', ({ admin }) => admin('PUT', '/keys/key_1/usage', { month: 7 }), { used: 7 }],
  ['DELETE /keys/key_1', ({ admin }) => admin('DELETE', '/keys/key_1'), { revokedAt: expect.any(Number) }],
])('%s writes the state', async (_, call, expected) => {
  await using it = await persisted();

  await call(it);
  await until(() => it.write.mock.results.length > 0);
  await it.write.mock.results[0]?.value;

  expect(it.used()).toMatchObject(expected);
});

test.each([0, 1000])('writes the end of a Retry-After that is sent %i ms late', async (delayMs) => {
  await using it = await persisted();
  it.mock.rules.add({ respond: { status: 429, headers: { 'retry-after': '7' } }, delayMs });
  const sent = it.call(it.key);
  await it.mock.journal.waitFor({});

  await it.mock.clock.advance(delayMs);
  await sent;

  await until(() => it.used()?.retryAt === it.mock.clock.now() - delayMs + 7000);
});

test('a second mock is refused with the pid of the first, which loses nothing', async () => {
  const state = join(temporaryFolder(), 'state.json');
  await using first = createMockServer({ state });
  const { url } = await first.serve();
  const { key, id } = first.createKey();

  expect(() => createMockServer({ state })).toThrow(
    `The state file ${state} is in use by the mock server with pid ${process.pid}; stop that server, use another file, or remove `,
  );
  utimesSync(state, 1, 1);
  await fetch(`${url}/api/v1/latest`, { headers: { authorization: key } });
  await first.close();

  await using next = createMockServer({ state });
  expect(next.keys.get(id).month.used).toBe(1);
});

test('a failed serve() changes neither the state nor the file', async () => {
  const state = join(temporaryFolder(), 'state.json');
  await using other = createMockServer();
  const { port } = await other.serve();
  await using mock = createMockServer({ state });
  const { id } = mock.createKey();

  await expect(mock.serve({ port })).rejects.toMatchObject({ code: 'port_in_use' });

  expect(mock.keys.list().map((key) => key.id)).toEqual([id]);
  expect(savedIn(state)?.snapshot.keys).toMatchObject([{ id }]);
});

test('a date that jumps does not delay the next write', async () => {
  const state = join(temporaryFolder(), 'state.json');
  await using mock = createMockServer({ state, clock: 'virtual' });
  const { key } = mock.createKey();
  let date = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => {
    date += 86_400_000;
    return date;
  });

  for (const used of [1, 2]) {
    await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: key } });
    await until(() => savedIn(state)?.snapshot.keys[0]?.used === used);
  }
});

test('the lock of a killed process does not block', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const child = start('serve', state);
  await once(child, 'message');
  expect(() => createMockServer({ state })).toThrow(`pid ${child.pid}; stop`);
  await kill(child);

  await createMockServer({ state }).close();

  expect(readdirSync(dirname(state))).toEqual(['state.json']);
});

test('a mock that has lost its lock to another one warns once, and writes no more', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const first = createMockServer({ state });
  const server = await first.serve();
  await until(() => existsSync(state));
  writeFileSync(`${state}.lock`, JSON.stringify({ host: 'other', pid: 1, id: 'other' }));
  const before = readFileSync(state, 'utf8');
  const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);

  for (let request = 0; request < 3; request += 1) {
    await fetch(`${server.url}/api/v1/quota`);
    await until(() => warnings.mock.calls.length > 0);
  }
  await expect(first.close()).rejects.toMatchObject({ code: 'state_in_use' });

  expect(readFileSync(state, 'utf8')).toBe(before);
  expect(warnings.mock.calls).toEqual([
    [expect.stringContaining(`The state file ${state} is now in use by another mock server`), 'FxratesMockWarning'],
  ]);
  expect(existsSync(`${state}.lock`)).toBe(true);
});

test('a state file that was deleted is written again', async () => {
  const state = join(temporaryFolder(), 'state.json');
  const mock = createMockServer({ state });
  await mock.serve();
  rmSync(state);

  await mock.close();

  expect(existsSync(state)).toBe(true);
});

test.skipIf(process.platform === 'win32')('refuses a pipe as a state file', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);

  expect(() => createMockServer({ state: pipe })).toThrow(expect.objectContaining({ code: 'state_unusable' }));
});

const HERE = { host: 'here', pid: 7, id: 'x' };
const THERE = { ...HERE, host: 'there' };

test.each<[string, LockOwner | 'unknown', object, boolean]>([
  ['of a process that runs', HERE, { pid: 8, isRunning: () => true }, false],
  ['of a process that is gone', HERE, { pid: 8, isRunning: () => false, ageMs: 0 }, true],
  ['of this mock process', HERE, { heldIds: new Set(['x']) }, false],
  ['of an earlier process with the same pid', HERE, { heldIds: new Set(['y']), ageMs: 0 }, true],
  ['of another host', THERE, { ageMs: 29_000 }, false],
  ['of another host that is gone', THERE, { isRunning: () => true, ageMs: 31_000 }, true],
  ['that is being written', 'unknown', { ageMs: 10 }, false],
  ['that is damaged', 'unknown', { ageMs: 31_000 }, true],
])('a lock %s', (_, owner, found, expected) => {
  const usual = { host: 'here', pid: 7, ageMs: 60_000, isRunning: () => false, heldIds: new Set<string>() };

  expect(isAbandoned(owner, { ...usual, ...found })).toBe(expected);
});
