import { afterAll, expect, test } from 'vitest';
import { createMockServer, type MockServerOptions } from '../../src/mock-server/index.ts';
import {
  axeFindings,
  hasChromium,
  launchBrowser,
  lookAt,
  openBrowser,
  type Page,
} from '../helpers/browser-chromium.ts';
import { deferred } from '../helpers/deferred.ts';
import { STILL } from '../helpers/mock-with-key.ts';
import { respond, startRawServer } from '../helpers/raw-server.ts';

const chromium = hasChromium ? await launchBrowser() : undefined;
afterAll(() => chromium?.close());

/** Each has a mock and a page of its own, and mostly waits for the browser, so they run side by side; `expect.poll` is then of one test. */
const browserTest = test.skipIf(!hasChromium).concurrent;

/** Pages that tests have left: a new one takes as long as thirty clicks. The storage of each mock is its own. */
const idlePages: Page[] = [];

async function openPage() {
  const page = idlePages.pop() ?? (await openBrowser({}, chromium)).page;
  const leave = async () => {
    page.removeAllListeners();
    await page.goto('about:blank');
    await page.setViewportSize({ width: 1280, height: 720 });
    idlePages.push(page);
  };
  return { page, [Symbol.asyncDispose]: leave };
}

/** A mock that is served, and a page of its own. */
async function serving(options: MockServerOptions = {}) {
  const mock = createMockServer({ clock: STILL, ...options });
  const server = await mock.serve();
  const opened = await openPage();
  const { key, id } = mock.createKey();
  const call = (times = 1) =>
    Promise.all(
      Array.from({ length: times }, () => fetch(`${server.url}/api/v1/latest`, { headers: { authorization: key } })),
    );
  return {
    ...{ mock, key, id, call, ...server, page: opened.page },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
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

/** Holds the response to POST requests for a path until the returned function is called. */
async function holdResponse(page: Page, path: string): Promise<() => void> {
  const { promise, resolve } = deferred<void>();
  await page.route(
    ({ pathname }) => pathname.endsWith(path),
    async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      const response = await route.fetch();
      await promise;
      await route.fulfill({ response });
    },
  );
  return resolve;
}

/** The id of the focused element. */
function focused(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement.id');
}

browserTest('names the window of a key that has its own', async () => {
  await using panel = await serving();
  const { key } = panel.mock.createKey({ limits: { requests: 2, windowMs: 1000 } });
  await fetch(`${panel.url}/api/v1/latest`, { headers: { authorization: key } });
  await openPanel(panel.page, panel.adminUrl);

  await panel.page.getByRole('meter', { name: 'This window of 1000 ms of key_2' }).waitFor();
  await panel.page.getByRole('meter', { name: 'This minute of key_1' }).waitFor();
  await panel.page.getByRole('heading', { name: 'Use of the window of 1000 ms' }).waitFor();
  await panel.page
    .getByLabel('1 requests of key_2 were served and 0 not; the limit is 2 per window of 1000 ms')
    .waitFor();
});

browserTest('shows requests as they come, with the reason for each refusal', async () => {
  await using panel = await serving({ journalSize: 1001 });
  const { mock, key, call, adminUrl, page } = panel;
  await call();
  const problems = await openPanel(page, adminUrl);
  expect(page.url()).not.toContain('token');

  await page.getByRole('button', { name: 'GET /api/v1/latest' }).click();
  await call(30);
  await page.getByText('30 of 30 requests used this minute').waitFor();
  await page.getByText('429 now; next request accepted in 1 min').waitFor();
  expect(await page.getByRole('meter', { name: 'This minute of key_1' }).getAttribute('aria-valuenow')).toBe('30');
  expect(await page.getByRole('meter', { name: 'This month of key_1' }).getAttribute('aria-valuetext')).toBe(
    '30 of 1000',
  );
  await page.getByLabel('30 requests of key_1 were served and 1 not; the limit is 30 per minute').waitFor();
  await page.getByLabel('Status', { exact: true }).selectOption('refused');
  const list = page.getByRole('list', { name: 'Requests, newest first' });
  expect(await list.getByRole('listitem').count()).toBe(1);
  expect(await page.content()).not.toContain(key);
  expect(problems).toEqual([]);

  await page.getByRole('button', { name: 'Empty' }).first().click();
  await page.getByText('No requests match the filters.').waitFor();
  expect(mock.journal.list()).toEqual([]);

  await page.getByRole('button', { name: 'Clear filters' }).click();
  await call();
  const first = list.getByRole('button');
  await first.focus();
  expect(await first.getAttribute('aria-expanded')).toBe('false');
  await call(100);
  await page.getByText('101 requests').waitFor();
  expect(await list.locator('button[tabindex="0"]').count()).toBe(1);
  for (let request = 0; request < 900; request += 1) await mock.fetch(`${mock.baseUrl}/api/v1/quota`);
  await page.getByText('newest 1000 of 1001 requests', { exact: true }).waitFor();
});

browserTest('shows the end of an older request, and says that older keys are not shown', async () => {
  await using panel = await serving();
  const { mock, key, url, call, adminUrl, page } = panel;
  mock.rules.add({ nth: 1, delayMs: 60_000 });
  const leave = new AbortController();
  const left = fetch(`${url}/api/v1/quota`, { headers: { authorization: key }, signal: leave.signal });
  await mock.journal.waitFor();
  await call();
  const problems = await openPanel(page, adminUrl);
  const older = page.getByRole('button', { name: 'GET /api/v1/quota' });
  await older.getByText('200', { exact: true }).waitFor();
  expect(await page.getByText('Only the newest 200 keys are shown.').count()).toBe(0);

  leave.abort();
  await expect(left).rejects.toThrow();
  for (let created = 0; created < 200; created += 1) mock.createKey();

  await older.getByText('no response').waitFor();
  await page.getByText('Only the newest 200 keys are shown.').waitFor();
  expect(problems).toEqual([]);
});

browserTest('adds rules, shows how many requests used them, edits and removes them', async () => {
  await using panel = await serving();
  const { mock, call, adminUrl, page } = panel;
  const problems = await openPanel(page, adminUrl);
  const card = page.getByRole('region', { name: 'Rules' });
  const form = page.getByRole('form', { name: 'New rule' });

  await form.getByLabel('respond.status', { exact: true }).fill('201');
  await form.getByText('When', { exact: true }).click();
  await form.getByLabel('id', { exact: true }).fill('mine');
  await form.getByLabel('times', { exact: true }).fill('3');
  await form.getByText('Which requests').click();
  await form.getByLabel('match.operation', { exact: true }).fill('latst');
  await form.getByRole('button', { name: 'Add rule' }).click();
  await card.getByRole('alert').getByText('match.operation is "latst"; expected one of latest').waitFor();
  expect(await page.getByRole('alert').count()).toBe(1);
  // The browser itself logs the refused request.
  expect(problems.splice(0)).toHaveLength(1);
  await form.getByLabel('match.operation', { exact: true }).fill('latest');
  expect(await form.getByLabel('respond.data', { exact: true }).inputValue()).toBe('');
  await form.getByLabel('respond.data', { exact: true }).fill('{ "base": "USD" }');
  await form.getByRole('button', { name: 'Add rule' }).click();
  await card.getByText('used for 0 of 0 requests, 3 left').waitFor();
  await call(2);
  await card.getByText('used for 2 of 2 requests, 1 left').waitFor();
  await page.getByText('response of mine').first().waitFor();
  expect(mock.rules.list()).toMatchObject([
    {
      ...{ id: 'mine', times: 3, match: { operation: 'latest' } },
      respond: [{ status: 201, body: '{"success":true,"data":{ "base": "USD" }}' }],
    },
  ]);
  expect(await card.getByRole('listitem').textContent()).toContain('mine 201 used for');
  await form.getByLabel('respond.status', { exact: true }).fill('418');
  await card.getByRole('button', { name: 'Edit mine' }).click();
  const edited = page.getByRole('form', { name: 'Rule mine' });
  expect(await edited.getByLabel('respond.status', { exact: true }).inputValue()).toBe('201');
  expect(await edited.getByLabel('respond.data', { exact: true }).inputValue()).toBe('{ "base": "USD" }');
  expect(await focused(page)).toBe('edited-rule-respond-status');
  expect(await axeFindings(page)).toEqual([]);
  await edited.getByRole('button', { name: 'Cancel' }).click();
  await form.waitFor();
  expect(await form.getByLabel('respond.status', { exact: true }).inputValue()).toBe('418');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Edit mine');
  await page.keyboard.press('Enter');
  await edited.getByLabel('respond.status', { exact: true }).fill('200');
  await edited.getByLabel('times', { exact: true }).fill('1');
  await edited.getByText('Delay and failure').click();
  await edited.getByLabel('fail.kind', { exact: true }).selectOption('bad-json');
  await edited.getByLabel('delayMs', { exact: true }).fill('{ "min": 0, "max": 0 }');
  await edited.getByRole('button', { name: 'Save rule' }).click();
  await card.getByText('used for 0 of 0 requests, 1 left').waitFor();
  await form.waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Edit mine');
  expect(mock.rules.get('mine')).toMatchObject({
    ...{ match: { operation: 'latest' }, fail: { kind: 'bad-json' }, delayMs: { min: 0, max: 0 } },
    respond: [{ status: 200, body: '{"success":true,"data":{ "base": "USD" }}' }],
  });
  await card.getByText('200, bad-json, delay').waitFor();
  await call();
  await card.getByText('used for 1 of 1 requests, 0 left').waitFor();
  await page.getByRole('button', { name: 'Remove mine' }).click();
  await card.getByText('No rules.').waitFor();

  mock.latest.set([{ base: 'EUR' }, { base: 'USD' }]);
  mock.rules.add({ id: 'down', respond: () => ({ status: 503 }), counted: false });
  await card.getByText('200, then 200').waitFor();
  await card.getByText('function').waitFor();
  expect(await card.getByRole('button', { name: 'Edit down' }).count()).toBe(0);
  await card.getByRole('button', { name: 'Edit latest' }).click();
  expect(await page.getByRole('form', { name: 'Rule latest' }).getByLabel('respond').inputValue()).toContain('EUR');
  await page.getByRole('button', { name: 'Remove down' }).click();
  await page.getByRole('button', { name: 'Remove down' }).waitFor({ state: 'detached' });
  expect(mock.rules.list().map(({ id }) => id)).toEqual(['latest']);
  await card.getByRole('button', { name: 'Remove all' }).click();
  await card.getByText('No rules.').waitFor();
  await form.waitFor(); // the edited rule is gone
  expect(problems).toEqual([]);
});

browserTest('moves the focus on when the focused button goes', async ({ expect }) => {
  await using panel = await serving();
  const { mock, call, adminUrl, page } = panel;
  for (const id of ['one', 'two', 'three']) mock.rules.add({ id, delayMs: 0 });
  mock.accounts.create({ plan: 'developer' });
  mock.behaviour.set({ etag: 'weak' });
  await call();
  await openPanel(page, adminUrl);
  await page.getByRole('form', { name: 'New rule' }).waitFor();
  const press = async (name: string, next: string) => {
    await page.getByRole('button', { name, exact: true }).first().focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(FOCUSED_TEXT)).toBe(next);
  };

  await press('Remove three', 'Edit two');
  await press('Remove one', 'Remove two'); // the last of the list
  await press('Remove two', 'Add rule');
  mock.rules.add({ id: 'four', delayMs: 0 });
  await page.getByRole('button', { name: 'Remove four' }).waitFor();
  await press('Remove all', 'Response');
  await press('Confirm account_2', 'Plan of account_2');
  await page.getByRole('button', { name: 'Create key for account_2' }).click();
  await press('I have copied it', 'Requests of key_2');
  await press('Revoke key_2', 'Keep key_2');
  await press('Revoke forever key_2', 'Requests of key_2');
  await press('Empty', 'Search requests');
  await press('Reset 1 to default', 'Per-minute limit 9');
  expect(mock.rules.list()).toEqual([]);
});

/** In the page: the name of the focused element. */
const FOCUSED_TEXT = "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()";

browserTest('shows a JSON error beside the field of a rule, and sends the text as typed', async () => {
  await using panel = await serving();
  const { mock, call, adminUrl, page } = panel;
  const problems = await openPanel(page, adminUrl);
  const form = page.getByRole('form', { name: 'New rule' });

  await form.getByLabel('respond.data', { exact: true }).fill('{bad json');
  await form.getByText('Which requests').click();
  await form.getByLabel('match.query', { exact: true }).fill('{"base"}');
  await form.getByText('Which requests').click();
  await form.getByRole('button', { name: 'Add rule' }).click();
  expect(await focused(page)).toBe('rule-respond-data');
  await form.locator('#rule-respond-data-error').getByText('Not JSON: ').waitFor();
  await form.locator('#rule-match-query-error').getByText('Not JSON: ').waitFor();
  expect(await form.getByLabel('respond.data', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  expect(mock.rules.list()).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);

  await form.getByLabel('respond.data', { exact: true }).fill('{"EUR":1.10,"big":12345678901234567890}');
  await form.getByLabel('match.query', { exact: true }).fill('');
  expect(await page.getByRole('alert').count()).toBe(0);
  await form.getByRole('button', { name: 'Add rule' }).dblclick();
  await page.getByText('used for 0 of 0').waitFor();
  expect(mock.rules.list()).toHaveLength(1);
  const [response] = await call();
  expect(await response?.text()).toBe('{"success":true,"data":{"EUR":1.10,"big":12345678901234567890}}');
  expect(problems).toEqual([]);
});

browserTest('focuses an invalid field, also in a group that is closed', async () => {
  await using panel = await serving();
  const { mock, adminUrl, page } = panel;
  await openPanel(page, adminUrl);
  const form = page.getByRole('form', { name: 'New rule' });

  for (const [name, group, typed, width] of [
    ['match.query', 'Which requests', 'base=XXX', 360],
    ['match.headers', 'Which requests', 'x-trace: abc', 1280],
    ['nth', 'When', 'first', 360],
    ['probability', 'When', '7', 360], // which the browser checks
    ['delayMs', 'Delay and failure', '1s', 360],
  ] as const) {
    await page.setViewportSize({ width, height: 740 });
    const field = form.getByLabel(name, { exact: true });
    const id = `rule-${name.replace('.', '-')}`;
    const toggle = () => form.getByText(group, { exact: true }).dispatchEvent('click');
    await toggle();
    await field.fill(typed);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await toggle();
      await form.getByRole('button', { name: 'Add rule' }).click();
      expect(await focused(page)).toBe(id);
      const last = name === 'probability' ? field : form.locator(`#${id}-error`);
      await last.waitFor();
      const [top, bottom] = await Promise.all([form.locator(`label[for=${id}]`).boundingBox(), last.boundingBox()]);
      expect(top?.y).toBeGreaterThanOrEqual(0);
      expect((bottom?.y ?? 740) + (bottom?.height ?? 0)).toBeLessThanOrEqual(740);
    }
    await field.fill('');
    await toggle();
  }
  expect(mock.rules.list()).toEqual([]);
});

browserTest('adds a rule by keyboard alone, and the next one has only what was typed', async () => {
  await using panel = await serving();
  const { mock, adminUrl, page } = panel;
  await openPanel(page, adminUrl);
  const form = page.getByRole('form', { name: 'New rule' });

  await form.locator('summary', { hasText: 'Delay and failure' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.type('250');
  const delayMs = form.getByLabel('delayMs', { exact: true });
  expect(await delayMs.inputValue()).toBe('250');
  // The next rule is typed before the response about this one arrives.
  const release = await holdResponse(page, '/rules');
  await page.keyboard.press('Enter');
  await page.getByText('used for 0 of 0').waitFor();
  await form.getByLabel('respond.status', { exact: true }).fill('503');
  release();
  await expect.poll(() => delayMs.inputValue()).toBe('');
  await page.keyboard.press('Enter');
  await page.getByText('used for 0 of 0').nth(1).waitFor();

  const body = expect.stringContaining('"success":false');
  expect(mock.rules.list()).toMatchObject([{ delayMs: 250 }, { match: {}, respond: [{ status: 503, body }] }]);
  expect(mock.rules.list()[0]).not.toHaveProperty('respond');
  expect(mock.rules.list()[1]).not.toHaveProperty('delayMs');
  expect(await form.getByLabel('respond.data', { exact: true }).getAttribute('placeholder')).toContain('"base":"EUR"');
  expect(await form.getByLabel('match.query', { exact: true }).getAttribute('placeholder')).toBe('{"base":"EUR"}');
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
  await page.getByText('FXRATES_API_KEY must be the key that was sent: key_1.').waitFor();
  await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })');
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.getByText('The browser did not allow copying; select the text instead.').waitFor();
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
  const held = deferred<void>();
  const asked = page.waitForRequest('**/__fxrates/rules');
  await page.route('**/__fxrates/rules', (route) => held.promise.then(() => route.continue()), { times: 1 });
  await asked;

  await page.getByLabel('Space').selectOption('checkout');
  await page.getByRole('button', { name: 'GET /api/v1/quota' }).waitFor();
  expect(await page.getByRole('button', { name: 'GET /api/v1/latest' }).count()).toBe(0);
  await page.getByLabel('email', { exact: true }).fill('typed');
  const late = page.waitForResponse('**/__fxrates/rules');
  held.resolve();
  await late;
  await page.getByRole('button', { name: '+ 1 minute' }).click();
  await page.getByText('2026-01-15 00:01:00 UTC').waitFor();
  expect(await page.getByLabel('email', { exact: true }).inputValue()).toBe('typed'); // the late answer is of the mock itself
  expect(space.clock.now() - mock.clock.now()).toBe(60_000);
  await space.close();

  await page.getByRole('alert').getByText('Space "checkout" does not exist').waitFor();
  mock.space({ name: 'checkout' });
  await fetch(`${url}/api/v1/latest?again=1`, { headers: { authorization: space.key } });
  await page.getByRole('button', { name: 'GET /api/v1/latest?again=1' }).waitFor();
  await page.getByLabel('Space').selectOption({ label: 'the mock itself' });
  await page.getByRole('button', { name: 'GET /api/v1/latest' }).waitFor();
  await page.goto(`${url}/__fxrates/?space=..`);
  await page.getByRole('alert').getByText(`Space "'..'" does not exist`).waitFor();
});

browserTest('an empty list of the mock itself says that spaces have their own requests', async () => {
  await using panel = await serving();
  const { mock, adminUrl, page } = panel;
  await openPanel(page, adminUrl);
  await page.getByText('No requests yet.', { exact: true }).waitFor();

  const space = mock.space({ name: 'checkout' });
  await page.getByText('No requests yet. Those with the key of a space are in the list of that space.').waitFor();
  await page.getByLabel('Space').selectOption('checkout');

  await page.getByText('No requests yet.', { exact: true }).waitFor();
  await space.close();
});

browserTest('moves the clock and changes switches', async () => {
  await using panel = await serving();
  const { mock, adminUrl, page } = panel;
  const problems = await openPanel(page, adminUrl);

  await page.getByRole('button', { name: '+ 1 minute' }).dblclick();
  await page.getByText('2026-01-15 00:02:00 UTC').waitFor();
  await page.getByRole('button', { name: 'To the quota reset' }).dblclick();
  await page.getByText('2026-02-01 00:00:00 UTC').waitFor();
  await page.getByRole('button', { name: 'Freeze' }).dblclick();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.getByRole('button', { name: '+ 1 second' }).click();
  await page.getByText('2026-02-01 00:00:01 UTC').waitFor();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect(mock.clock.now()).toBe(Date.UTC(2026, 1, 1, 0, 0, 1));

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

browserTest(
  'signs up, confirms, creates a key that is shown once, uses up its limits and revokes it',
  async ({ expect }) => {
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
    mock.space({ name: 'checkout' });
    await page.getByLabel('Space').selectOption('checkout');
    await card.getByLabel('New key, shown only once').waitFor({ state: 'detached' });
    await card.getByText('account_1, signed up').waitFor();
    expect(await card.getByRole('alert').count()).toBe(0); // the refusal is of the mock itself
    await page.getByLabel('Space').selectOption({ label: 'the mock itself' });
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
    await page.route('**/usage', (route) => route.abort(), { times: 1 });
    const failed = page.waitForEvent('requestfailed');
    await page.keyboard.press('Enter');
    await failed;
    expect(await card.getByLabel('Used this month by key_2').inputValue()).toBe('7');
    await page.keyboard.press('Enter');
    await card.getByText('7 of 100000').waitFor();
    await card.getByRole('button', { name: 'Use up the minute of key_2' }).click();
    await card.getByText('429 now; next request accepted in 1 min').waitFor();
    const plan = card.getByLabel('Plan of account_2');
    await page.route('**/plan', (route) => route.abort(), { times: 1 });
    await plan.selectOption('free');
    await expect.poll(() => plan.inputValue()).toBe('developer');
    await plan.selectOption('unlimited');
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
    expect(problems).toHaveLength(5);
  },
);

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
  const { url, adminUrl, adminToken, page } = panel;

  await page.goto(`${url}/__fxrates`);
  await page.getByLabel('Admin token').fill('wrong');
  await page.getByRole('button', { name: 'Open the panel' }).click();
  await page.getByText('This is not the admin token.').waitFor();
  await page.getByLabel('Admin token').fill(`${adminToken}\u200b `);
  await page.getByRole('button', { name: 'Open the panel' }).click();

  await page.getByRole('heading', { name: 'Clock' }).waitFor();
  await page.getByLabel('email', { exact: true }).fill('typed');
  await page.evaluate('localStorage.setItem("fxrates-admin-token", "of-an-ended-server")');
  await page.getByLabel('Admin token').fill(adminUrl);
  expect(await page.getByRole('heading', { name: 'Clock' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Open the panel' }).click();
  await page.getByRole('heading', { name: 'Clock' }).waitFor();
  expect(await page.getByLabel('email', { exact: true }).inputValue()).toBe('typed');
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
    mock.rules.add({
      id: 'down',
      match: { query: { base: 'XXX' } },
      respond: [{ status: 503 }, { data: {} }],
      times: 5,
    });
    await page.getByText('used for 0 of 0 requests, 5 left').waitFor();
    const rule = page.getByRole('form', { name: 'New rule' });
    for (const group of ['Which requests', 'When', 'Delay and failure'])
      await rule.getByText(group, { exact: true }).click();
    mock.space({ name: 'checkout' });
    await page.getByLabel('Space').waitFor();
    findings.push(...(await lookAt(page, 'panel-2-all')));

    expect(findings).toEqual([]);
  },
  600_000,
);

browserTest('axe finds what is wrong with a page, so that its silence means something', async () => {
  await using opened = await openPage();
  await opened.page.setContent('<main><input><img src="data:,"><p style="color:#ccc;background:#fff">faint</p></main>');
  const findings = (await axeFindings(opened.page)).join('\n');
  for (const rule of ['label', 'image-alt', 'color-contrast', 'html-has-lang']) expect(findings).toContain(`${rule}: `);
});

browserTest('a page of another origin can read responses and headers only if the switch is on', async () => {
  await using mock = createMockServer({
    clock: 'virtual',
    behaviour: { cors: 'any-origin', etag: 'strong', rateHeaders: 'ietf-draft' },
  });
  const { url } = await mock.serve();
  const { key, id } = mock.createKey();
  const html = { headers: { 'content-type': 'text/html' } };
  const origin = await startRawServer({ onRequest: ({ socket }) => respond(socket, html) });
  await using opened = await openPage();
  const { page } = opened;
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
});

const NASTY = `"'><img/src=x/onerror=alert(1)><script>alert(1)</script><svg/onload=alert(1)>`;

browserTest('the control panel shows every field as text, also HTML', async () => {
  await using panel = await serving();
  const { mock, key, url, adminUrl, page } = panel;
  mock.accounts.create({ email: `${NASTY}@x` });
  mock.rules.add({ match: { path: `/${NASTY}` }, respond: { status: 503, body: NASTY } });
  mock.rules.add({ match: { path: '/long' }, respond: { body: NASTY.repeat(300) } });
  await fetch(`${url}/${encodeURIComponent(NASTY)}?base=${encodeURIComponent(NASTY)}`);
  await fetch(`${url}/long`, { headers: { authorization: key } });
  const alerts: string[] = [];
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message());
    return dialog.dismiss();
  });

  await page.goto(adminUrl);
  await page.getByText('onerror=alert').first().waitFor();
  await page.getByRole('button', { name: 'GET /long' }).click();
  await page.getByText('Only the first 16384 characters of the body are in the journal.').waitFor();

  expect(await page.locator('main img, main script, img[src="x"], svg[onload]').count()).toBe(0);
  expect(alerts).toEqual([]);
});
