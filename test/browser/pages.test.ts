import { afterAll, expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { hasChromium, launchBrowser, openBrowser } from '../helpers/browser-chromium.ts';
import { respond, startRawServer } from '../helpers/raw-server.ts';

const chromium = hasChromium ? await launchBrowser() : undefined;
afterAll(() => chromium?.close());

test.skipIf(!hasChromium)(
  'a page of another origin can read responses and headers only if the switch is on',
  async () => {
    await using mock = createMockServer({
      behaviour: { cors: 'any-origin', etag: 'strong', rateHeaders: 'ietf-draft' },
    });
    const { url } = await mock.serve();
    const { key, id } = mock.createKey();
    const html = { headers: { 'content-type': 'text/html' } };
    const origin = await startRawServer({ onRequest: ({ socket }) => respond(socket, html) });
    await using browser = await openBrowser({}, chromium);
    const { page } = browser;
    await page.goto(origin.url);
    const ask = (path: string, headers: Record<string, string>) =>
      page.evaluate(
        async ([target, sent]) => {
          const response = await fetch(target, { headers: sent });
          const text = await response.text();
          return {
            status: response.status,
            headers: Object.fromEntries(response.headers),
            body: text && JSON.parse(text),
          };
        },
        [url + path, headers] as const,
      );
    const authorization = `Bearer ${key}`;

    const latest = await ask('/api/v1/latest?base=EUR', { authorization });
    const same = await ask('/api/v1/latest?base=EUR', { authorization, 'if-none-match': latest.headers['etag']! });
    mock.keys.setUsage(id, { minute: 30 });
    const refused = await ask('/api/v1/latest', { authorization });

    expect(latest).toMatchObject({ status: 200, body: { data: { base: 'EUR' } } });
    expect(latest.headers['ratelimit']).toMatch(/^"minute";r=29;/);
    expect(same).toMatchObject({ status: 304, body: '' });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    expect(mock.keys.get(id).month.used).toBe(2);

    mock.behaviour.set({ cors: 'absent' });
    await expect(ask('/api/v1/quota', { authorization })).rejects.toThrow('Failed to fetch');
    mock.behaviour.set({ cors: 'any-origin' });
    await expect(ask('/__fxrates/', {})).rejects.toThrow('Failed to fetch');
    await origin.close();
  },
);

const NASTY = `"'><img/src=x/onerror=alert(1)><script>alert(1)</script><svg/onload=alert(1)>`;

test.skipIf(!hasChromium)('the control panel shows every field as text, also HTML', async () => {
  await using mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const { url, adminUrl } = await mock.serve();
  mock.accounts.create({ email: `${NASTY}@x` });
  mock.rules.add({ match: { path: `/${NASTY}` }, respond: { status: 503, body: NASTY } });
  await fetch(`${url}/${encodeURIComponent(NASTY)}?base=${encodeURIComponent(NASTY)}`);
  await using browser = await openBrowser({}, chromium);
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
