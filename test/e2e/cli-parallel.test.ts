import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { BUNDLE, hasBundle, runShell } from '../helpers/cli-bundle.ts';

/** The minute of the mock ends 10 s after its start, so the last commands wait no longer. */
const NOW = '2026-01-31T12:00:50Z';

test.skipIf(!hasBundle)('xargs runs 40 commands under a limit of 30: none fails', async () => {
  const home = mkdtempSync(join(tmpdir(), 'fxrates-xargs-'));
  await using mock = createMockServer({
    clock: { mode: 'real', now: NOW },
    behaviour: { rateWindow: 'fixed-epoch' },
  });
  const { url } = await mock.serve();
  const { key } = mock.createKey({ plan: 'free' });
  const env = { FXRATES_BASE_URL: url, FXRATES_API_KEY: key, HOME: home };

  const command = `"${process.execPath}" "${BUNDLE}" latest n={} -q`;
  const { code } = await runShell(`seq 40 | xargs -P 20 -I{} ${command}`, { env });

  const refused = mock.journal.list({ status: 429 });
  expect(code).toBe(0);
  expect(refused.length).toBeLessThanOrEqual(10);
  rmSync(home, { recursive: true });
});
