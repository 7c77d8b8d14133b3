import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { BUNDLE, hasBundle, runShell, startBundle } from '../helpers/cli-bundle.ts';
import { jsonLines } from '../helpers/cli-io.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { servedMock } from '../helpers/served-mock.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const { mock, server } = await servedMock({ clock: 'real' });
const { key } = mock.createKey({ plan: 'unlimited' });
const home = temporaryFolder();
const env = { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key, HOME: home };
afterAll(() => mock.close());

const lines = (count: number) => Array.from({ length: count }, (_, n) => `n=${n} symbols=EUR\n`).join('');

/** The minute of the mock ends 10 s after its start, so the last of 34 commands waits no longer. */
const NOW = '2026-01-31T12:00:50Z';
const COUNT = inLongRuns(100, 34);
const WINDOWS = inLongRuns(['fixed-epoch', 'sliding-log'] as const, ['fixed-epoch'] as const);

// The last one waits for ten seconds, so they run side by side.
describe.skipIf(!hasBundle).concurrent('the built command', () => {
  test('after a signal, every query is printed or in --failed-out', async () => {
    const path = join(home, 'left.txt');
    const running = startBundle(['batch', '-', '--failed-out', path], { env, stdin: lines(5000) });
    await running.shows('stdout', '\n');

    running.kill('SIGHUP');
    const { signal, stdout, stderr } = await running.ended;

    expect(signal).toBe('SIGHUP');
    expect(stderr).toContain('batch stopped after');
    const left = jsonLines(readFileSync(path, 'utf8'));
    const numbers = [...jsonLines(stdout).map(({ query }) => query.n), ...left.map(({ n }) => n)];
    expect(left.length).toBeGreaterThan(0);
    expect(new Set(numbers).size).toBe(5000);
    expect(numbers).toHaveLength(5000);
  });

  test.each(WINDOWS)(`xargs runs ${COUNT} commands under a limit of 30, %s: none fails`, async (rateWindow) => {
    await using mock = createMockServer({ clock: { mode: 'real', now: NOW }, behaviour: { rateWindow } });
    const { url } = await mock.serve();
    const { key } = mock.createKey({ plan: 'free' });
    // Not the default for a service on this machine.
    const env = { FXRATES_BASE_URL: url, FXRATES_API_KEY: key, FXRATES_SHARE_LIMIT: 'on', HOME: temporaryFolder() };

    const command = `"${process.execPath}" "${BUNDLE}" latest n={} -q`;
    const { code } = await runShell(`seq ${COUNT} | xargs -P 20 -I{} ${command}`, { env });

    const refused = mock.journal.list({ status: 429 });
    expect(code).toBe(0);
    // Those that are in flight before the limit is known.
    expect(refused.length).toBeLessThanOrEqual(16);
  });
});
