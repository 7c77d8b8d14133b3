import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUNDLE, hasBundle, Running } from '../helpers/cli-bundle.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fxrates-crash-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe.skipIf(!hasBundle)('the built command', () => {
  // As after an upgrade under a running command, whose next import finds nothing.
  test('exits with a report if its own files are missing', async () => {
    await cp(dirname(BUNDLE), folder, { recursive: true });
    const missing = (await readdir(folder)).filter((name) => name.startsWith('main.'));
    for (const name of missing) await rm(join(folder, name));
    await cp(join(dirname(BUNDLE), '..', '..', 'package.json'), join(folder, 'package.json'));

    const { code, stdout, stderr } = await new Running(process.execPath, [join(folder, 'fxrates.cjs'), 'quota'], {})
      .ended;

    expect(missing).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('fxrates: unexpected failure — ');
    expect(stderr).toContain('If it was upgraded just now, run the command again.');
    expect(stderr.split('\n').length).toBeLessThan(6);
  });
});
