import { execFileSync } from 'node:child_process';
import { existsSync, promises as fs, lstatSync, mkdirSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { checkWritable, makeFolder, replaceFile } from '../src/replace-file.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test.skipIf(process.platform === 'win32')('a file keeps its mode; a private one is for its owner only', async () => {
  const path = join(folder, 'file.json');
  await writeFile(path, 'old');
  await chmod(path, 0o640);

  await replaceFile(path, 'new');
  const kept = await modeOf(path);
  await replaceFile(path, 'secret', { isPrivate: true });

  expect([kept, await modeOf(path)]).toEqual([0o640, 0o600]);
});

test.skipIf(process.platform === 'win32').each([
  ['replaced', 'old'],
  ['created', undefined],
])('a symbolic link stays, and the file behind it is %s', async (_, old) => {
  const [target, link] = [join(folder, 'target.json'), join(folder, 'link.json')];
  if (old !== undefined) await writeFile(target, old);
  await symlink('target.json', link);

  await checkWritable(link);
  const checked = await readdir(folder);
  await replaceFile(link, 'new');

  expect(checked).toEqual(old === undefined ? ['link.json'] : ['link.json', 'target.json']);
  expect(await readlink(link)).toBe('target.json');
  expect(await readFile(target, 'utf8')).toBe('new');
});

test('a failure leaves the old file and no temporary one', async () => {
  const path = join(folder, 'occupied');
  await mkdir(path);

  await expect(replaceFile(path, 'new')).rejects.toThrow();

  expect(await readdir(folder)).toEqual(['occupied']);
});

test.each([
  ['chmod', 'EPERM', true],
  ['chmod', 'ENOTSUP', true],
  ['sync', 'EINVAL', true],
  ['sync', 'ENOSYS', true],
  ['sync', 'EPERM', true],
  ['sync', 'ENOSPC', false],
  ['sync', 'EIO', false],
] as const)('a file system whose %s fails with %s: the file is written: %s', async (name, code, isWritten) => {
  const path = join(folder, 'file');
  const handle = await open(join(folder, 'other'), 'w');
  vi.spyOn(Object.getPrototypeOf(handle), name).mockRejectedValue(Object.assign(new Error(code), { code }));

  const result = await replaceFile(path, 'text', { isPrivate: true }).then(
    () => true,
    () => false,
  );
  await handle.close();

  expect(result).toBe(isWritten);
  expect(await readFile(path, 'utf8').catch(() => '')).toBe(isWritten ? 'text' : '');
});

test.each([
  ['rename', 'EBUSY', {}, 'new'], // as for a file mounted into a container
  ['open', 'EROFS', {}, 'new'], // as in a read-only folder
  ['open', 'EROFS', { isLocked: true }, 'the old text'],
  ['open', 'EACCES', {}, 'new'],
  ['rename', 'EBUSY', { isDisposable: true }, 'the old text'],
  ['rename', 'EBUSY', { isLocked: true }, 'new'],
  ['rename', 'EIO', { isLocked: true }, 'the old text'],
  ['rename', 'EIO', {}, 'the old text'],
  ['open', 'ENOSPC', {}, 'the old text'],
] as const)(
  'when %s of a complete file fails with %s, %j: the file contains %j',
  async (name, code, options, expected) => {
    const path = join(folder, 'file');
    await writeFile(path, 'the old text');
    const original = fs[name] as (...args: unknown[]) => Promise<never>;
    const failsWhenNew = (from: unknown, ...rest: unknown[]) =>
      from === path ? original(from, ...rest) : Promise.reject(Object.assign(new Error(code), { code }));
    vi.spyOn(fs, name).mockImplementation(failsWhenNew);

    await replaceFile(path, 'new', options).catch(() => undefined);

    expect(await readFile(path, 'utf8')).toBe(expected);
    expect(await readdir(folder)).toEqual(['file']);
  },
);

test('the lock stays while a file that cannot be replaced is overwritten', async () => {
  const path = join(folder, 'file');
  await writeFile(path, 'the old text');
  vi.spyOn(fs, 'rename').mockRejectedValue(Object.assign(new Error('EBUSY'), { code: 'EBUSY' }));
  const locks: boolean[] = [];
  const text = () => {
    locks.push(existsSync(`${path}.lock`));
    return 'new';
  };

  await replaceFile(path, text, { isLocked: true });

  expect(locks).toEqual([true, true]);
  expect(await readdir(folder)).toEqual(['file']);
});

test.skipIf(process.platform === 'win32')('a pipe is written to, and stays', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reading = readFile(path, 'utf8');

  await checkWritable(path);
  await replaceFile(path, 'text');

  expect(await reading).toBe('text');
  expect((await stat(path)).isFIFO()).toBe(true);
});

test.skipIf(process.platform === 'win32')('what an open file holds already stays', async () => {
  const path = join(folder, 'stdout');
  const file = await open(path, 'w');
  await file.write('data, ');

  await replaceFile(`/dev/fd/${file.fd}`, 'text');
  await file.close();

  expect(await readFile(path, 'utf8')).toBe('data, text');
});

test('checking a path changes no file and creates none', async () => {
  const [old, none] = [join(folder, 'old'), join(folder, 'none')];
  await writeFile(old, 'old');

  await checkWritable(old);
  await checkWritable(none);

  await expect(checkWritable(folder)).rejects.toMatchObject({ code: 'EISDIR' });
  expect(await readFile(old, 'utf8')).toBe('old');
  expect(await readdir(folder)).toEqual(['old']);
});

test.each([
  ['none/file', 'ENOENT'],
  ['none/', 'ENOENT'],
  ['old/', 'ENOTDIR'],
  ['old/file', 'ENOTDIR'],
])('the path %s, at which no file can be created, is found by the check: %s', async (path, code) => {
  await writeFile(join(folder, 'old'), '');

  await expect(checkWritable(`${folder}/${path}`)).rejects.toMatchObject({ code });
});

test('a folder is created with its parents, and may exist already', async () => {
  const path = join(folder, 'a', 'b', 'c');

  const twice = (folder: string, options: object) => {
    mkdirSync(folder, options); // as another process does
    return mkdirSync(folder, options);
  };

  makeFolder(path, 0o700, { lstatSync, mkdirSync: twice as typeof mkdirSync });
  makeFolder(path, 0o700);

  expect(await modeOf(path)).toBe(process.platform === 'win32' ? expect.any(Number) : 0o700);
  expect(await readdir(folder)).toEqual(['a']);
});

test.runIf(process.platform === 'linux')('a folder that the system does not make is an error', () => {
  expect(() => makeFolder('/proc/fxrates/cache')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});

test('a file can be written several times at once', async () => {
  const path = join(folder, 'file.json');

  await Promise.all(Array.from({ length: 20 }, (_, place) => replaceFile(path, `text ${place}`)));

  expect(await readFile(path, 'utf8')).toMatch(/^text \d+$/);
  expect(await readdir(folder)).toEqual(['file.json']);
});
