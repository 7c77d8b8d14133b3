import { expect, test } from 'vitest';
import { cacheFolder, configFolder, stateFolder } from '../../../src/cli/storage/folders.ts';

test.each([
  [{ FXRATES_CONFIG_DIR: '/own', XDG_CONFIG_HOME: '/xdg', APPDATA: '/roaming', HOME: '/home/me' }, '/own'],
  [{ XDG_CONFIG_HOME: '/xdg', APPDATA: '/roaming', HOME: '/home/me' }, '/xdg/fxrates'],
  [{ XDG_CONFIG_HOME: 'relative', HOME: '/home/me' }, '/home/me/.config/fxrates'],
  [{ APPDATA: '/roaming', USERPROFILE: '/users/me' }, '/roaming/fxrates'],
  [{ USERPROFILE: '/users/me' }, '/users/me/.config/fxrates'],
  [{ HOME: '' }, undefined],
])('the configuration is stored in the folder that %j names', (env, folder) => {
  expect(configFolder(env)).toBe(folder);
});

test('Windows needs no HOME for the cache and the state', () => {
  const env = { APPDATA: '/roaming', LOCALAPPDATA: '/local', USERPROFILE: '/users/me' };

  expect(cacheFolder(env)).toBe('/local/fxrates');
  expect(stateFolder(env)).toBe('/local/fxrates');
});
