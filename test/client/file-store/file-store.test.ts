import fs from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { beforeEach, expect, test } from 'vitest';
import { defaultFolder, fileExchange } from '../../../src/client/file-store/file-store.ts';
import { fileStore } from '../../../src/client/file-store/index.ts';
import type { Files } from '../../../src/client/file-store/state-folder.ts';
import { ConfigError } from '../../../src/client/index.ts';
import type { LimitStore } from '../../../src/client/limits/shared/limit-store.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { success } from '../../helpers/service-replies.ts';
import { canMountDisk, onDisk } from '../../helpers/small-disk.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { differentCalls, testClient } from '../../helpers/test-client.ts';

const DAY = 86_400_000;
const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;
/** Only the main thread of a process can become another user; `npm run mutate` runs tests in worker threads. */
const canBeNobody = isRoot && isMainThread;
let base: string;
let root: string;
let clock: FakeClock;
let store: LimitStore;

beforeEach(() => {
  base = temporaryFolder();
  root = join(base, 'state', 'limits');
  clock = new FakeClock(Date.now());
  store = fileStore(root, { clock });
});

const offer = (version: string, keepMs = 60_000) => ({ version, state: `of ${version}`, nowMs: clock.now(), keepMs });
/** As another process sees it. */
const read = (name = 'key') => fileStore(root, { clock }).exchange(name, '');
const folders = () => fs.readdirSync(root).sort();
const filesOf = (folder: string) => fs.readdirSync(join(root, folder)).sort();
const modeOf = (path: string) => (fs.statSync(path).mode & 0o777).toString(8);

test('creates a folder and files that only their owner can read, without the key in their names', async () => {
  await store.exchange('https://fx.test fx_live_secret', '', offer('a'));

  const [folder = ''] = folders();
  expect(folder).toMatch(/^[0-9a-f]{64}$/);
  expect([root, join(root, folder)].map(modeOf)).toEqual(['700', '700']);
  expect(filesOf(folder).map((name) => modeOf(join(root, folder, name)))).toEqual(['600', '600']);
});

test('keeps two files, however often it writes', async () => {
  await store.exchange('key', '', offer('0'));
  for (let write = 1; write <= 20; write += 1) await store.exchange('key', `${write - 1}`, offer(`${write}`));

  expect(folders()).toHaveLength(1);
  expect(filesOf(folders()[0] ?? '')).toHaveLength(2);
});

test('a read creates no file', async () => {
  expect(await read()).toMatchObject({ isWritten: false, version: '', state: '' });
  expect(fs.readdirSync(base)).toEqual([]);
});

test('a state is valid until keepMs after it was written', async () => {
  await store.exchange('key', '', offer('a', 5_000));
  clock.set(4_999);
  const before = await read();
  clock.set(1);
  const after = await read();

  expect([before.version, after.version]).toEqual(['a', '']);
  expect(await store.exchange('key', 'a', offer('b'))).toMatchObject({ isWritten: false, version: '', state: '' });
  expect(await store.exchange('key', '', offer('b'))).toMatchObject({ isWritten: true, version: 'b' });
});

test('a state from before the clock was set back is ignored and can be replaced', async () => {
  await store.exchange('key', '', offer('a'));
  clock.set(-3_600_000);

  expect(await read()).toMatchObject({ version: '', nowMs: clock.now() });
  expect(await store.exchange('key', '', offer('b'))).toMatchObject({ isWritten: true });
});

test('folders unused for a day, by the clock of the disk, are removed when a key is used for the first time', async () => {
  const used = (folder: string, agoMs: number) => {
    const at = new Date(fs.statSync(join(root, folder)).mtimeMs - agoMs);
    fs.utimesSync(join(root, folder), at, at);
  };
  await store.exchange('old', '', offer('a'));
  const [old = ''] = folders();
  const ofKilled = `${old}.${'0'.repeat(36)}`;
  fs.mkdirSync(join(root, ofKilled));
  fs.writeFileSync(join(root, 'notes.txt'), 'of the user');
  for (const folder of [old, ofKilled, 'notes.txt']) used(folder, DAY + 60_000);
  clock.set(30 * DAY); // of a mock server
  await fileStore(root, { clock }).exchange('young', '', offer('a'));
  const left = folders();
  const [young = ''] = left.filter((name) => name !== 'notes.txt');
  used(young, DAY - 60_000);
  await fileStore(root, { clock }).exchange('new', '', offer('a')); // of another process

  expect(left).toEqual(expect.arrayContaining([young, 'notes.txt']));
  expect(left).toHaveLength(2);
  expect(folders()).toEqual(expect.arrayContaining([young, 'notes.txt']));
  expect(folders()).toHaveLength(3);
});

function replaceByFile(folder: string): void {
  fs.rmSync(folder, { recursive: true });
  fs.writeFileSync(folder, 'text');
}

function replaceByLink(path: string): void {
  fs.renameSync(path, join(base, 'elsewhere'));
  fs.symlinkSync(join(base, 'elsewhere'), path);
}

function createFolder(mode: number): void {
  fs.mkdirSync(root);
  fs.chmodSync(root, mode);
}

const only = (folder: string, prefix: string) =>
  join(folder, fs.readdirSync(folder).find((name) => name.startsWith(prefix)) ?? prefix);

test.each<[string, (folder: string) => void]>([
  ['half a state', (folder) => fs.truncateSync(only(folder, 'state-'), 20)],
  ['an empty state', (folder) => fs.truncateSync(only(folder, 'state-'), 0)],
  ['another JSON', (folder) => fs.writeFileSync(only(folder, 'state-'), '{"version":7}')],
  ['null', (folder) => fs.writeFileSync(only(folder, 'state-'), 'null')],
  ['a state of 2 MB', (folder) => fs.appendFileSync(only(folder, 'state-'), ' '.repeat(2 << 20))],
  ['no state', (folder) => fs.rmSync(only(folder, 'state-'))],
  ['no current state', (folder) => fs.rmSync(only(folder, 'current-'))],
  ['two current states', (folder) => fs.writeFileSync(join(folder, 'current-other'), '')],
  ['an empty folder', (folder) => fs.readdirSync(folder).map((name) => fs.rmSync(join(folder, name)))],
  ['a file instead of the folder', (folder) => replaceByFile(folder)],
  ['a symbolic link to another folder', (folder) => replaceByLink(folder)],
  ['a symbolic link to another state', (folder) => replaceByLink(only(folder, 'state-'))],
])('%s is ignored, and the next write replaces it', async (_, damage) => {
  await store.exchange('key', '', offer('a'));
  damage(join(root, folders()[0] ?? ''));
  const elsewhere = () =>
    fs.existsSync(join(base, 'elsewhere'))
      ? fs.readdirSync(base, { recursive: true }).filter((path) => `${path}`.startsWith('elsewhere'))
      : [];
  const before = elsewhere();

  const held = await read();
  const written = await fileStore(root, { clock }).exchange('key', '', offer('b'));

  expect(held).toMatchObject({ version: '', state: '' });
  expect(written).toMatchObject({ isWritten: true });
  expect(await read()).toMatchObject({ version: 'b', state: 'of b' });
  expect(folders()).toHaveLength(1);
  expect(elsewhere()).toEqual(before);
});

test('a folder that is removed during use is created again', async () => {
  await store.exchange('key', '', offer('a'));
  fs.rmSync(root, { recursive: true });

  expect(await store.exchange('key', 'a', offer('b'))).toMatchObject({ isWritten: false, version: '' });
  expect(await store.exchange('key', '', offer('b'))).toMatchObject({ isWritten: true });
});

/** What makes the folder useless, and how the warning names it. */
const USELESS: readonly [string, RegExp, () => void][] = [
  ['a file in the place of the folder', /limits is not a folder/, () => fs.writeFileSync(root, '')],
  ['a file in the place of its parent', /ENOTDIR/, () => replaceByFile(join(base, 'state'))],
  [
    'a symbolic link',
    /limits is a symbolic link/,
    () => {
      createFolder(0o700);
      replaceByLink(root);
    },
  ],
  ['a folder that others can write to', /is writable by other users; run: chmod 700/, () => createFolder(0o777)],
  [
    'a folder like /tmp',
    /limits is shared with other users; pass a folder in it: fileStore\('\S+limits\/fxrates'\)/,
    () => createFolder(0o1777),
  ],
  ['a folder of a group', /limits is shared with other users; pass a folder in it/, () => createFolder(0o2775)],
];

test.each(USELESS)('%s: calls continue after one warning, and use the store again later', async (_, reason, spoil) => {
  fs.mkdirSync(join(base, 'state'));
  spoil();
  const { fx, warnings } = testClient(success(), { clock, rateLimit: { store } });

  const results = await Promise.all(differentCalls(fx, 5));
  await clock.advance(3_000);
  results.push(...(await Promise.all(differentCalls(fx, 5, { deadlineMs: 500 }))));

  expect(results).toHaveLength(10);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(reason);

  fs.rmSync(join(base, 'state'), { recursive: true });
  await clock.advance(3_000);
  await fx.latest({ call: 'again' });
  await clock.advance(100);
  expect(folders()).toHaveLength(1);
  expect(warnings).toHaveLength(1);
});

/** Root may do everything everywhere. */
async function unprivileged(work: () => Promise<void>): Promise<void> {
  if (!isRoot) return work();
  process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}

test.skipIf(isRoot && !canBeNobody)('a folder that cannot be written fails a write, and can be read', async () => {
  fs.chmodSync(base, 0o755);
  fs.mkdirSync(join(base, 'mine'));
  if (isRoot) fs.chownSync(join(base, 'mine'), NOBODY, NOBODY);
  root = join(base, 'mine', 'limits');
  await unprivileged(async () => {
    await fileStore(root, { clock }).exchange('key', '', offer('a'));
    fs.chmodSync(join(root, folders()[0] ?? ''), 0o500);
    fs.chmodSync(root, 0o500);

    const other = fileStore(root, { clock });
    const known = await read();
    const written = other.exchange('key', 'a', offer('b'));
    const added = other.exchange('other key', '', offer('a'));

    expect(known).toMatchObject({ version: 'a', state: 'of a' });
    await expect(written).rejects.toThrow(/EACCES/);
    await expect(added).rejects.toThrow(/EACCES/);
    expect(await read()).toMatchObject({ version: 'a', state: 'of a' });
    fs.chmodSync(root, 0o700);
    fs.chmodSync(join(root, folders()[0] ?? ''), 0o700);
  });
});

test.skipIf(!isRoot)("another user's folder is refused, and stays as it is", async () => {
  fs.mkdirSync(root, { recursive: true, mode: 0o700 });
  fs.chownSync(root, NOBODY, NOBODY);

  await expect(store.exchange('key', '', offer('a'))).rejects.toThrow(
    `${root} belongs to another user (uid ${NOBODY}, expected 0); change its owner, or use another folder`,
  );
  expect(folders()).toEqual([]);
});

test.skipIf(!canBeNobody)("a folder below one of another user's is refused", async () => {
  fs.mkdirSync(join(base, 'state'), { mode: 0o700 });

  await unprivileged(() => expect(store.exchange('key', '', offer('a'))).rejects.toThrow(/EACCES/));
});

test.each(['before it is created', 'while it is in use'])('a full disk %s is an error, without loss', async (when) => {
  let isFull = false;
  const writeFileSync: Files['writeFileSync'] = (path, text, options) => {
    if (!isFull) return fs.writeFileSync(path, text, options);
    fs.writeFileSync(path, String(text).slice(0, 7), options); // what still fitted
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  };
  const exchange = fileExchange(root, { now: () => clock.now(), files: { ...fs, writeFileSync } });
  const known = when === 'while it is in use' ? 'a' : '';
  if (known) exchange('key', '', offer('a'));
  const files = () => (fs.existsSync(root) ? fs.readdirSync(root, { recursive: true }).length : 0);
  const before = files();
  isFull = true;

  expect(() => exchange('key', known, offer('b'))).toThrow(/ENOSPC/);
  const during = await read();
  const filesDuring = files();
  isFull = false;

  expect(during).toMatchObject({ version: known });
  expect(filesDuring).toBe(before);
  expect(exchange('key', known, offer('b'))).toMatchObject({ isWritten: true });
});

if (!canMountDisk) process.stderr.write('SKIPPED: the test of a disk that is really full. It needs Linux and root.\n');

test.skipIf(!canMountDisk)('a disk that is really full is an error', async () => {
  await onDisk('64k', async (folder) => {
    const exchange = fileExchange(join(folder, 'limits'), { now: () => clock.now(), files: fs });
    exchange('key', '', offer('a'));
    expect(() => fs.writeFileSync(join(folder, 'ballast'), 'x'.repeat(100_000))).toThrow(/ENOSPC/);

    expect(() => exchange('key', 'a', offer('b'))).toThrow(/ENOSPC/);
    expect(exchange('key', '')).toMatchObject({ version: 'a', state: 'of a' });
    fs.rmSync(join(folder, 'ballast'));
    expect(exchange('key', 'a', offer('b'))).toMatchObject({ isWritten: true });
  });
});

test.each([
  [{ XDG_STATE_HOME: '/state' }, '/state/fxrates/limits'],
  [{ XDG_STATE_HOME: 'relative' }, '/home/me/.local/state/fxrates/limits'],
  [{ XDG_STATE_HOME: '' }, '/home/me/.local/state/fxrates/limits'],
  [{ LOCALAPPDATA: '/local' }, '/home/me/.local/state/fxrates/limits'],
  [{ LOCALAPPDATA: '/local' }, '/local/fxrates/limits', 'win32' as const],
])('the default folder is in the state folder of the user: %j', (variables, folder, platform = 'linux' as never) => {
  expect(defaultFolder(variables, () => '/home/me', platform)).toBe(folder);
});

test.each([
  () => '',
  () => {
    throw new Error('ENOENT: uv_os_homedir');
  },
])('without a home folder, a path is required', (home) => {
  expect(() => defaultFolder({}, home)).toThrow(ConfigError);
  expect(() => defaultFolder({}, home)).toThrow(
    'fileStore: the user has no home folder; pass the path of a folder: fileStore(path)',
  );
});

test.each([
  ['', {}, 'fileStore: expected the path of a folder'],
  [7, {}, 'fileStore: expected the path of a folder'],
  [null, {}, 'fileStore: expected the path of a folder'],
  ['~/limits', {}, "fileStore: only a shell replaces the ~ of '~/limits'; pass join(homedir(), …)"],
  ['~', {}, 'fileStore: only a shell replaces the ~ of'],
  ['~user/limits', {}, 'fileStore: only a shell replaces the ~ of'],
  ['limits', null, 'fileStore options: expected an object of options, got null'],
  ['limits', { now: () => 1 }, "fileStore options: unknown option 'now'"],
  ['limits', { clock: Date.now }, 'fileStore options.clock: expected an object with now()'],
])('fileStore(%j, %j) throws', (path, options, message) => {
  expect(() => fileStore(path as never, options as never)).toThrow(message);
});
