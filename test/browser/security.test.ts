import { expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { hasChromium, openBrowser } from '../helpers/browser-chromium.ts';

const NASTY = `"'><img/src=x/onerror=alert(1)><script>alert(1)</script><svg/onload=alert(1)>`;

test.skipIf(!hasChromium)('the control panel shows every field as text, also HTML', async () => {
  await using mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const { url, adminUrl } = await mock.serve();
  mock.accounts.create({ email: `${NASTY}@x` });
  mock.faults.add({ kind: 'status', status: 503, body: NASTY, match: { path: `/${NASTY}` } });
  await fetch(`${url}/${encodeURIComponent(NASTY)}?base=${encodeURIComponent(NASTY)}`);
  expect(mock.outbox.list()[0]?.to).toContain('<script>');
  await using browser = await openBrowser();
  const { page } = browser;
  const alerts: string[] = [];
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message());
    return dialog.dismiss();
  });

  await page.goto(adminUrl);
  await page.getByText('onerror=alert').first().waitFor();

  expect(await page.locator('main img, main script, img[src="x"], svg[onload]').count()).toBe(0);
  expect(alerts).toEqual([]);
});
