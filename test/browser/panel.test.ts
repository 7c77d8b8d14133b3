import { afterAll, expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import {
  axeFindings,
  hasChromium,
  launchBrowser,
  lookAt,
  openBrowser,
  type Page,
} from '../helpers/browser-chromium.ts';

const chromium = hasChromium ? await launchBrowser() : undefined;
afterAll(() => chromium?.close());

const browserTest = test.skipIf(!hasChromium);

/** A mock that is served, and a page of its own. */
async function serving() {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  const server = await mock.serve();
  const browser = await openBrowser({}, chromium);
  const { key, id } = mock.createKey();
  const call = (times = 1) =>
    Promise.all(
      Array.from({ length: times }, () => fetch(`${server.url}/api/v1/latest`, { headers: { authorization: key } })),
    );
  return {
    ...{ mock, key, id, call, ...server, page: browser.page },
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

async function openPanel(page: Page, url: string) {
  const problems: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
  page.on('pageerror', (error) => void problems.push(String(error)));
  page.on(
    'request',
    (request) => void (new URL(request.url()).origin !== new URL(url).origin && problems.push(request.url())),
  );
  await page.goto(url);
  await page.getByRole('heading', { name: 'Clock' }).waitFor();
  return problems;
}

browserTest('shows requests as they come, with the reason for each refusal', async () => {
  await using panel = await serving();
  const { mock, key, call, adminUrl, page } = panel;
  await call();
  const problems = await openPanel(page, adminUrl);
  expect(page.url()).not.toContain('token');

  await page.getByRole('button', { name: 'GET /api/v1/latest' }).waitFor();
  await call(30);
  await page.getByText('30 of 30 requests used this minute').waitFor();
  await page.getByText('429 now; next request accepted in 1 min').waitFor();
  expect(await page.getByRole('meter', { name: 'This minute of key_1' }).getAttribute('aria-valuenow')).toBe('30');
  expect(await page.getByRole('meter', { name: 'This month of key_1' }).getAttribute('aria-valuetext')).toBe(
    '30 of 1000',
  );
  await page.getByLabel('30 requests of key_1 were served and 1 not; the limit is 30 per minute').waitFor();
  await page.getByLabel('Status', { exact: true }).selectOption('refused');
  expect(await page.getByRole('list', { name: 'Requests, newest first' }).getByRole('listitem').count()).toBe(1);
  expect(await page.content()).not.toContain(key);
  expect(problems).toEqual([]);

  await page.getByRole('button', { name: 'Empty' }).first().click();
  await page.getByText('No requests match the filters.').waitFor();
  expect(mock.journal.list()).toEqual([]);
});

browserTest('adds faults, shows whom they struck, and removes them', async () => {
  await using panel = await serving();
  const { mock, call, adminUrl, page } = panel;
  const problems = await openPanel(page, adminUrl);

  await page.getByLabel('Kind of fault').selectOption('status');
  await page.getByLabel('status required').fill('503');
  await page.getByRole('form', { name: 'New fault' }).getByLabel('id', { exact: true }).fill('down');
  await page.getByLabel('probability', { exact: true }).fill('1');
  const card = page.getByRole('region', { name: 'Faults' });
  await card.getByText('Which requests').click();
  await card.getByLabel('operation', { exact: true }).fill('latst');
  await page.getByRole('button', { name: 'Add fault' }).click();
  await card.getByRole('alert').getByText('latst').waitFor();
  expect(await page.getByRole('alert').count()).toBe(1);
  // The browser itself logs the refused request.
  expect(problems.splice(0)).toHaveLength(1);
  await card.getByLabel('operation', { exact: true }).fill('latest');
  await page.getByRole('button', { name: 'Add fault' }).click();
  await page.getByText('struck 0 of 0').waitFor();
  await call();
  await page.getByText('struck 1 of 1').waitFor();
  await page.getByText('served; fault down: responds with 503').waitFor();
  await page.getByRole('button', { name: 'Edit down' }).click();
  await page.getByLabel('status required').fill('502');
  await page.getByRole('button', { name: 'Save fault' }).click();
  await page.getByText('status:502').waitFor();
  expect(mock.faults.list()).toMatchObject([
    { id: 'down', kind: 'status', status: 502, match: { operation: 'latest' } },
  ]);
  await page.getByRole('button', { name: 'Remove down' }).click();
  await page.getByText('No faults.').waitFor();

  expect(mock.faults.list()).toEqual([]);
  expect(problems).toEqual([]);
});

browserTest('adds stubs, shows how many requests received them, and removes them', async () => {
  await using panel = await serving();
  const { mock, call, adminUrl, page } = panel;
  const problems = await openPanel(page, adminUrl);
  const form = page.getByRole('form', { name: 'New stub' });

  await form.getByLabel('status', { exact: true }).fill('201');
  await form.getByText('More settings').click();
  await form.getByLabel('id', { exact: true }).fill('mine');
  await form.getByLabel('times', { exact: true }).fill('3');
  await form.getByText('Which requests').click();
  await form.getByLabel('operation', { exact: true }).fill('latst');
  await form.getByRole('button', { name: 'Add stub' }).click();
  const card = page.getByRole('region', { name: 'Stubs' });
  await card.getByRole('alert').getByText('match.operation is "latst"; expected one of latest').waitFor();
  expect(await page.getByRole('alert').count()).toBe(1);
  // The browser itself logs the refused request.
  expect(problems.splice(0)).toHaveLength(1);
  await form.getByLabel('operation', { exact: true }).fill('latest');
  await form.getByLabel('data', { exact: true }).fill('{ "base": "USD" }');
  await form.getByRole('button', { name: 'Add stub' }).click();
  await card.getByText('served 0 times, 3 left').waitFor();
  await call(2);
  await card.getByText('served 2 times, 1 left').waitFor();
  await page.getByText('response of stub mine').first().waitFor();
  expect(mock.stubs.list()).toMatchObject([
    { id: 'mine', times: 3, match: { operation: 'latest' }, responses: [{ status: 201 }] },
  ]);
  expect(mock.stubs.list()[0]?.responses[0]?.body).toBe('{"success":true,"data":{ "base": "USD" }}');
  await card.getByRole('button', { name: 'Edit mine' }).click();
  const edited = page.getByRole('form', { name: 'Stub mine' });
  expect(await edited.getByLabel('status', { exact: true }).inputValue()).toBe('201');
  expect(await edited.getByLabel('data', { exact: true }).inputValue()).toBe('{ "base": "USD" }');
  expect(await axeFindings(page)).toEqual([]);
  await edited.getByLabel('status', { exact: true }).fill('200');
  await edited.getByLabel('times', { exact: true }).fill('1');
  await edited.getByRole('button', { name: 'Save stub' }).click();
  await card.getByText('served 0 times, 1 left').waitFor();
  await form.waitFor();
  expect(mock.stubs.get('mine')).toMatchObject({
    match: { operation: 'latest' },
    responses: [{ status: 200, body: '{"success":true,"data":{ "base": "USD" }}' }],
  });
  await call();
  await card.getByText('served 1 times, 0 left').waitFor();
  await page.getByRole('button', { name: 'Remove mine' }).click();
  await card.getByText('No stubs.').waitFor();

  mock.latest.set([{ base: 'EUR' }, { base: 'USD' }]);
  mock.stubs.add({ id: 'down', status: 503, delayMs: { min: 1, max: 2 } });
  await card.getByText('200, then 200').waitFor();
  await page.getByRole('button', { name: 'Remove down' }).click();
  await page.getByRole('button', { name: 'Remove down' }).waitFor({ state: 'detached' });
  expect(mock.stubs.list().map(({ id }) => id)).toEqual(['latest']);
  await card.getByRole('button', { name: 'Remove all' }).click();
  await card.getByText('No stubs.').waitFor();
  expect(problems).toEqual([]);
});

browserTest('shows a JSON error beside the field of a stub, and sends the text as typed', async () => {
  await using panel = await serving();
  const { mock, call, adminUrl, page } = panel;
  const problems = await openPanel(page, adminUrl);
  const form = page.getByRole('form', { name: 'New stub' });

  await form.getByLabel('data', { exact: true }).fill('{bad json');
  await form.getByText('Which requests').click();
  await form.getByLabel('query', { exact: true }).fill('{"base"}');
  await form.getByText('Which requests').click();
  await form.getByRole('button', { name: 'Add stub' }).click();
  await form.locator('#stub-data-error').getByText('Not JSON: ').waitFor();
  await form.locator('#stub-match-query-error').getByText('Not JSON: ').waitFor();
  expect(await form.getByLabel('data', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  expect(mock.stubs.list()).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);

  await form.getByLabel('data', { exact: true }).fill('{"EUR":1.10,"big":12345678901234567890}');
  await form.getByLabel('query', { exact: true }).fill('');
  expect(await page.getByRole('alert').count()).toBe(0);
  await form.getByRole('button', { name: 'Add stub' }).click();
  await page.getByText('served 0 times').waitFor();
  const [response] = await call();
  expect(await response?.text()).toBe('{"success":true,"data":{"EUR":1.10,"big":12345678901234567890}}');
  expect(problems).toEqual([]);
});

browserTest('opens a request by keyboard, and keeps the filters in the address', async () => {
  await using panel = await serving();
  const { key, url, call, adminUrl, page } = panel;
  await call();
  await fetch(`${url}/api/v1/quota?page=2`, { headers: { authorization: `Bearer ${key}`, 'x-trace': 'abc' } });
  await fetch(`${url}/api/v1/latest?api_key=fx_live_${'0'.repeat(48)}`);
  const problems = await openPanel(page, adminUrl);

  await page.getByText('3 requests').waitFor();
  const stops = page.getByRole('list', { name: 'Requests, newest first' }).locator('button:not([tabindex="-1"])');
  expect(await stops.allTextContents()).toEqual([expect.stringContaining('GET /api/v1/latest?api_key')]);
  await stops.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByText('x-trace: abc').waitFor();
  expect(await stops.first().textContent()).toContain('GET /api/v1/quota');
  expect(await page.getByLabel('Response body').textContent()).toMatch(/^\{"success":true,"data":\{.*"monthly_used":/);
  expect(await page.getByLabel('Command').textContent()).toContain(
    `curl '${url}/api/v1/quota?page=2' \\\n  -H 'authorization: Bearer '"$FXRATES_API_KEY"`,
  );
  await page.keyboard.press('/');
  await page.keyboard.type('X-Trace');
  await page.getByText('1 of 3 requests').waitFor();
  await page.getByLabel('Key', { exact: true }).selectOption('key_1');
  await page.waitForURL(/\?key=key_1&text=X-Trace$/);

  await page.reload();
  await page.getByText('1 of 3 requests').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Key', { exact: true }).selectOption({ label: 'unknown key' });
  await page.getByText('1 of 3 requests').waitFor();
  expect(await page.content()).not.toContain(key);
  expect(problems).toEqual([]);
});

browserTest('shows a space in place of the mock, and says so when it has ended', async () => {
  await using panel = await serving();
  const { mock, url, call, adminUrl, page } = panel;
  await call();
  const space = mock.space({ name: 'checkout' });
  await fetch(`${url}/api/v1/quota`, { headers: { authorization: space.key } });
  await openPanel(page, adminUrl);

  await page.getByLabel('Space').selectOption('checkout');
  await page.getByRole('button', { name: 'GET /api/v1/quota' }).waitFor();
  expect(await page.getByRole('button', { name: 'GET /api/v1/latest' }).count()).toBe(0);
  await page.getByRole('button', { name: '+ 1 minute' }).click();
  await page.getByText('2026-01-15 00:01:00 UTC').waitFor();
  expect(space.clock.now() - mock.clock.now()).toBe(60_000);
  await space.close();

  await page.getByRole('alert').getByText('Space "checkout" does not exist').waitFor();
  mock.space({ name: 'checkout' });
  await fetch(`${url}/api/v1/latest?again=1`, { headers: { authorization: space.key } });
  await page.getByRole('button', { name: 'GET /api/v1/latest?again=1' }).waitFor();
  await page.getByLabel('Space').selectOption({ label: 'the mock itself' });
  await page.getByRole('button', { name: 'GET /api/v1/latest' }).waitFor();
});

browserTest('moves the clock and changes switches', async () => {
  await using panel = await serving();
  const { mock, adminUrl, page } = panel;
  const problems = await openPanel(page, adminUrl);

  await page.getByRole('button', { name: 'To the quota reset' }).click();
  await page.getByText('2026-02-01 00:00:00 UTC').waitFor();
  expect(mock.clock.now()).toBe(Date.UTC(2026, 1, 1));

  await page.locator('summary', { hasText: 'Per-minute limit' }).click();
  await page.getByLabel('rateWindow').selectOption({ label: 'token-bucket' });
  await page.getByRole('button', { name: 'Reset 1 to default' }).waitFor();
  expect(mock.behaviour.values.rateWindow).toBe('token-bucket');
  await page.getByRole('button', { name: 'Reset 1 to default' }).click();
  await page.getByRole('button', { name: 'All switches at default' }).waitFor();
  await page.getByRole('button', { name: 'Preset hostile' }).click();
  await page.getByRole('button', { name: /^Reset \d+ to default$/ }).waitFor();
  expect(mock.behaviour.values).toEqual(createMockServer({ behaviour: 'hostile' }).behaviour.values);
  await page.getByRole('button', { name: /^Reset \d+ to default$/ }).click();
  await page.getByRole('button', { name: 'All switches at default' }).waitFor();

  expect(problems).toEqual([]);
});

browserTest('signs up, confirms, creates a key that is shown once, uses up its limits and revokes it', async () => {
  await using panel = await serving();
  const { mock, url, adminUrl, page } = panel;
  const problems = await openPanel(page, adminUrl);
  const card = page.getByRole('region', { name: 'Accounts' });
  const form = card.getByRole('form', { name: 'New account' });

  await form.getByLabel('email').fill('nobody');
  await form.getByRole('button', { name: 'Sign up' }).click();
  await card.getByRole('alert').getByText('expected an e-mail address').waitFor();
  await form.getByLabel('email').fill('ada@example.test');
  await form.getByLabel('plan').selectOption('developer');
  await form.getByLabel('Confirm it and create a key').uncheck();
  await form.getByRole('button', { name: 'Sign up' }).click();
  await card.getByText('not confirmed').waitFor();

  await card.getByRole('button', { name: 'Create key for account_2' }).click();
  await card.getByRole('alert').getByText('is not confirmed').waitFor();
  await card.getByRole('button', { name: 'Confirm account_2' }).click();
  await card.getByRole('button', { name: 'Confirm account_2' }).waitFor({ state: 'detached' });
  await card.getByRole('button', { name: 'Create key for account_2' }).click();
  const key = await card.getByLabel('New key, shown only once').inputValue();
  await card.getByRole('button', { name: 'Create key for account_1' }).click();
  await card.getByRole('alert').getByText('account_1 has 1 active key and the free plan allows 1').waitFor();
  expect(await card.getByLabel('New key, shown only once').inputValue()).toBe(key); // until it is copied
  const status = async () => (await fetch(`${url}/api/v1/latest`, { headers: { authorization: key } })).status;
  expect(await status()).toBe(200);
  await card.getByRole('button', { name: 'I have copied it' }).click();
  await card.getByLabel('New key, shown only once').waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(key);

  await card.getByRole('button', { name: 'Use up the month of key_2' }).click();
  await card.getByText('100000 of 100000').waitFor();
  expect(await status()).toBe(429);
  await card.getByLabel('Used this month by key_2').fill('7');
  await page.keyboard.press('Enter');
  await card.getByText('7 of 100000').waitFor();
  await card.getByRole('button', { name: 'Use up the minute of key_2' }).click();
  await card.getByText('429 now; next request accepted in 1 min').waitFor();
  await card.getByLabel('Plan of account_2').selectOption('unlimited');
  await card.getByText('300 of 1000').waitFor();
  expect(await card.getByRole('button', { name: 'Use up the month of key_2' }).isDisabled()).toBe(true);

  await card.getByRole('button', { name: 'Revoke key_2' }).dblclick();
  expect(mock.keys.get('key_2').state).toBe('active');
  await card.getByRole('button', { name: 'Keep key_2' }).click();
  await card.getByRole('button', { name: 'Revoke key_2' }).press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await card.getByText('revoked', { exact: true }).waitFor();
  expect(await status()).toBe(401);
  // The browser itself logs the refused requests.
  expect(problems).toHaveLength(3);
});

browserTest('asks before a token in the address replaces one that works', async () => {
  await using panel = await serving();
  const { url, adminUrl, adminToken, page } = panel;
  await openPanel(page, adminUrl);
  const messages: string[] = [];
  page.on('dialog', (dialog) => {
    messages.push(dialog.message());
    void dialog.dismiss();
  });

  await page.goto(`${url}/__fxrates/?other#token=of-another-page-1234`);
  await page.getByRole('heading', { name: 'Clock' }).waitFor();

  expect(messages).toEqual([expect.stringContaining('Replace the admin token')]);
  expect(await page.evaluate('localStorage.getItem("fxrates-admin-token")')).toBe(adminToken);
  await page.evaluate('localStorage.setItem("fxrates-admin-token", "of-an-ended-server")');
  await page.goto(adminUrl.replace('#', '?another#'));
  await page.getByRole('heading', { name: 'Clock' }).waitFor();
  expect(messages).toHaveLength(1);
});

browserTest('asks for the token where the address did not bring it', async () => {
  await using panel = await serving();
  const { url, adminToken, page } = panel;

  await page.goto(`${url}/__fxrates`);
  await page.getByLabel('Admin token').fill('wrong');
  await page.getByRole('button', { name: 'Open the panel' }).click();
  await page.getByText('This is not the admin token.').waitFor();
  await page.getByLabel('Admin token').fill(adminToken);
  await page.getByRole('button', { name: 'Open the panel' }).click();

  await page.getByRole('heading', { name: 'Clock' }).waitFor();
});

browserTest(
  'the panel is clean for axe, in light and dark, wide and narrow',
  async () => {
    await using panel = await serving();
    const { mock, url, call, adminUrl, page } = panel;
    await page.goto(`${url}/__fxrates/`);
    await page.getByLabel('Admin token').waitFor();
    const findings = [...(await lookAt(page, 'panel-1-token'))];

    for (let second = 0; second < 40; second += 1) {
      await call((second * 7) % 4);
      await mock.clock.advance(1500);
    }
    await fetch(`${url}/api/v1/quota`);
    await fetch(`${url}/api/v2/latest?base=EUR`);
    mock.behaviour.set({ rateHeaders: 'x-ratelimit' });
    const { id } = mock.createKey({ plan: 'developer' });
    mock.keys.revoke(id);
    await page.goto(adminUrl);
    await page.locator('summary', { hasText: 'Per-minute limit' }).click();
    await page.getByText('1 changed').waitFor();
    await page.getByText('There is no such endpoint').waitFor();
    await page.getByRole('button', { name: 'GET /api/v2/latest' }).click();
    await page.getByRole('form', { name: 'New fault' }).getByText('Which requests').click();
    mock.stubs.add({
      id: 'down',
      match: { query: { base: 'XXX' } },
      responses: [{ status: 503 }, { data: {} }],
      times: 5,
    });
    await page.getByText('served 0 times, 5 left').waitFor();
    const stub = page.getByRole('form', { name: 'New stub' });
    for (const group of ['An error instead of data', 'More settings']) await stub.getByText(group).click();
    mock.space({ name: 'checkout' });
    await page.getByLabel('Space').waitFor();
    findings.push(...(await lookAt(page, 'panel-2-all')));

    expect(findings).toEqual([]);
  },
  600_000,
);

browserTest('axe finds what is wrong with a page, so that its silence means something', async () => {
  await using browser = await openBrowser({}, chromium);
  await browser.page.setContent(
    '<main><input><img src="data:,"><p style="color:#ccc;background:#fff">faint</p></main>',
  );
  const findings = (await axeFindings(browser.page)).join('\n');
  for (const rule of ['label', 'image-alt', 'color-contrast', 'html-has-lang']) expect(findings).toContain(`${rule}: `);
});
