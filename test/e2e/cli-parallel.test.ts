import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { BUNDLE, hasBundle, runShell } from '../helpers/cli-bundle.ts';
import { inLongRuns } from '../helpers/long-tests.ts';

/** The minute of the mock ends 10 s after its start, so the last of 40 commands waits no longer. */
const NOW = '2026-01-31T12:00:50Z';
const COUNT = inLongRuns(100, 40);
const WINDOWS = inLongRuns(['fixed-epoch', 'sliding-log'] as const, ['fixed-epoch'] as const);

test.skipIf(!hasBundle).each(WINDOWS)(
  `xargs runs ${COUNT} commands under a limit of 30, %s: none fails`,
  async (rateWindow) => {
    const home = mkdtempSync(join(tmpdir(), 'fxrates-xargs-'));
    await using mock = createMockServer({ clock: { mode: 'real', now: NOW }, behaviour: { rateWindow } });
    const { url } = await mock.serve();
    const { key } = mock.createKey({ plan: 'free' });
    // Not the default for a service on this machine.
    const env = { FXRATES_BASE_URL: url, FXRATES_API_KEY: key, FXRATES_SHARE_LIMIT: 'on', HOME: home };

    const command = `"${process.execPath}" "${BUNDLE}" latest n={} -q`;
    const { code } = await runShell(`seq ${COUNT} | xargs -P 20 -I{} ${command}`, { env });

    const refused = mock.journal.list({ status: 429 });
    expect(code).toBe(0);
    expect(refused.length).toBeLessThanOrEqual(5);
    rmSync(home, { recursive: true });
  },
);
