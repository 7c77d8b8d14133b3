import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { cacheFolder, configFolder, stateFolder, useCompileCache } from '../../../src/cli/settings/folders.ts';
import { parseJsonFile, readJsonFile, updateJsonFile } from '../../../src/cli/settings/json-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

test.each([
  ['{"a": 1,}', ': line 1, column 9'],
  ['{\n  "a": 1\n  "b": 2\n}', ': line 3, column 3'],
  ['{} {}', ': line 1, column 4'],
  ['[1,]', ': line 1, column 4'],
  ['{\n  "a": " in JSON at position 1", "b": tru }', ': line 2, column 42'],
  ['{ "a": "text', ': line 1, column 13'],
  ['', ''],
])('the problem with %j is that it is not valid JSON%s', (text, place) => {
  expect(parseJsonFile(Buffer.from(text))).toEqual({ problem: `it is not valid JSON${place}` });
});

test('the problem with a file never quotes its text, which can be a key', () => {
  for (const text of ['{"api_key": fx_live_0123}', '"fx_live_0123', '{"api_key": "fx_live_0123"x}']) {
    expect(JSON.stringify(parseJsonFile(Buffer.from(text)))).not.toContain('live');
  }
});

test.each([
  [{ FXRATES_CONFIG_DIR: '/own', XDG_CONFIG_HOME: '/xdg', APPDATA: '/roaming', HOME: '/home/me' }, '/own'],
  [{ XDG_CONFIG_HOME: '/xdg', APPDATA: '/roaming', HOME: '/home/me' }, '/xdg/fxrates'],
  [{ XDG_CONFIG_HOME: 'relative', HOME: '/home/me' }, '/home/me/.config/fxrates'],
  [{ APPDATA: '/roaming', USERPROFILE: '/users/me' }, '/roaming/fxrates'],
  [{ USERPROFILE: '/users/me' }, '/users/me/.config/fxrates'],
  [{ HOME: '' }, undefined],
  [{ FXRATES_CONFIG_DIR: '~/own', HOME: '/home/me' }, '/home/me/own'],
  [{ FXRATES_CONFIG_DIR: '~', HOME: '/home/me' }, '/home/me'],
  [{ FXRATES_CONFIG_DIR: '~own', HOME: '/home/me' }, '~own'],
])('the configuration is stored in the folder that %j names', (env, folder) => {
  expect(configFolder(env, 'win32')).toBe(folder);
});

test('Linux ignores the variables of Windows, which WSL passes on', () => {
  const env = { APPDATA: '/roaming', LOCALAPPDATA: '/local', HOME: '/home/me' };

  expect([configFolder(env, 'linux'), cacheFolder(env, 'linux')]).toEqual([
    '/home/me/.config/fxrates',
    '/home/me/.cache/fxrates',
  ]);
});

test('Windows needs no HOME for the cache and the state', () => {
  const env = { APPDATA: '/roaming', LOCALAPPDATA: '/local', USERPROFILE: '/users/me' };

  expect(cacheFolder(env, 'win32')).toBe('/local/fxrates');
  expect(stateFolder(env, 'win32')).toBe('/local/fxrates');
  expect(stateFolder(env, 'linux')).toBeUndefined(); // it cannot be entered
});

let home = '';
beforeEach(() => {
  home = temporaryFolder();
});

const compiled = () => join(home, '.cache', 'fxrates', 'compiled');

/** Node.js with a compile cache: it creates a folder for its version. */
function nodeOf(version: string) {
  return { enableCompileCache: () => mkdirSync(join(compiled(), version), { recursive: true }) };
}

test('compiled code is stored in a folder that only the user can read', () => {
  useCompileCache({ HOME: home }, nodeOf('v26'));

  expect(readdirSync(compiled())).toEqual(['v26']);
  expect(statSync(join(home, '.cache', 'fxrates')).mode & 0o777).toBe(0o700);
});

test.each([
  ['without a home folder', {}],
  ['with a home folder that does not exist', { HOME: '/nonexistent' }],
  ['with a home folder that has no files of users', { HOME: '/proc' }],
])('%s nothing is stored', (_, env) => {
  const enableCompileCache = vi.fn();

  useCompileCache(env, { enableCompileCache });

  expect(enableCompileCache).not.toHaveBeenCalled();
});

test('on a Node.js without a compile cache, no folder is created', () => {
  useCompileCache({ HOME: home }, {});

  expect(existsSync(join(home, '.cache'))).toBe(false);
});

test('a change waits for the lock of another command, and loses nothing of it', async () => {
  const path = join(home, 'config.json');
  const lock = `${path}.lock`;
  writeFileSync(lock, '{"oth');
  let looks = 0;
  const sleep = async () => {
    looks += 1;
    if (looks < 249) return;
    writeFileSync(lock, '{"other":1}');
    renameSync(lock, path);
  };

  await updateJsonFile(path, (before) => ({ ...before, own: 2 }), { now: () => 0, sleep });

  expect(readJsonFile(path)).toEqual({ version: 1, other: 1, own: 2 });
  expect(readdirSync(home)).toEqual(['config.json']);
});

test('the lock of a killed command is removed after 5 s; one that changes hands is waited for', async () => {
  const path = join(home, 'credentials.json');
  const lock = `${path}.lock`;
  writeFileSync(lock, '{"keys"');
  let looks = 0;
  const sleep = async () => {
    looks += 1;
    if (looks !== 200) return;
    rmSync(lock);
    writeFileSync(`${lock}.new`, '{"keys"');
    renameSync(`${lock}.new`, lock);
  };

  await updateJsonFile(path, () => ({ own: 2 }), { now: () => 0, sleep });

  expect(looks).toBe(451);
  expect(readdirSync(home)).toEqual(['credentials.json']);
});
