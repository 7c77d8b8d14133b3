import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { hasChromium, lookAt, openBrowser, type Page } from '../helpers/browser-chromium.ts';

const browserTest = test.skipIf(!hasChromium);

async function serving() {
  const mock = createMockServer();
  return { mock, ...(await mock.serve()) };
}

function link(mock: MockServer, origin: string): string {
  return origin + (mock.outbox.list().at(-1)?.confirmPath ?? '');
}

async function call(url: string, key: string, path = '/api/v1/latest') {
  return (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).status;
}

/** From the sign-up to the revoked key, with the actions of a user. */
async function wholeStory(page: Page, { mock, url, dashboardUrl }: Awaited<ReturnType<typeof serving>>) {
  await page.goto(dashboardUrl);
  const signUp = page.getByRole('region', { name: 'Sign up' });
  await signUp.getByLabel('E-mail address').fill('ada@example.test');
  await signUp.getByLabel('Plan').selectOption('developer');
  await signUp.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();

  await page.goto(link(mock, url));
  await page.getByText('Your e-mail address is confirmed').waitFor();
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.getByLabel('API key').inputValue();
  expect(await isShownWhole(page.getByLabel('API key'))).toBe(true);
  await page.setViewportSize({ width: 320, height: 800 });
  expect(await isShownWhole(page.getByLabel('API key'))).toBe(true);
  expect(await call(url, key)).toBe(200);

  await page.reload();
  await page.getByRole('heading', { name: 'This key was already shown' }).waitFor();
  expect(await page.content()).not.toContain(key);

  await page.getByRole('link', { name: 'To your keys' }).click();
  await page.getByText('1 of 300').waitFor();
  await page.getByText('1 of 100,000').waitFor();
  await page.getByText('Revoke', { exact: false }).first().click();
  await page.getByRole('button', { name: 'Revoke permanently' }).click();
  await page.getByText('The key is revoked.').waitFor();
  expect(await call(url, key)).toBe(401);

  await page.getByLabel('Plan').selectOption('free');
  await page.getByRole('button', { name: 'Change plan' }).click();
  await page.getByText('Your plan has changed.').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign up' }).waitFor();
}

browserTest.each([true, false])(
  'from the sign-up to the revoked key, with JavaScript %s',
  async (javaScriptEnabled) => {
    const server = await serving();
    await using browser = await openBrowser({ javaScriptEnabled });
    const problems: string[] = [];
    browser.page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
    browser.page.on('pageerror', (error) => void problems.push(String(error)));

    await wholeStory(browser.page, server);

    expect(problems).toEqual([]);
    await server.close();
  },
);

browserTest('everything can be done with the keyboard alone', async () => {
  const { mock, url, dashboardUrl, close } = await serving();
  await using browser = await openBrowser();
  const { page } = browser;
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  await page.goto(dashboardUrl);
  await press('Tab');
  expect(await focused(page)).toBe('Skip to the content');
  await press('Enter', 'Tab');
  await page.keyboard.type('ada@example.test');
  await press('Tab', 'ArrowDown', 'Tab', 'Enter');
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  expect(mock.accounts.list()).toMatchObject([{ email: 'ada@example.test', plan: 'developer' }]);

  await page.goto(link(mock, url));
  await tabTo(page, 'Create key');
  await press('Enter');
  await page.getByText('I have copied it').waitFor();
  await tabTo(page, /^fx_live_/);
  await tabTo(page, 'I have copied it');
  await press('Enter');
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  await tabTo(page, /^Revoke fx_live_/);
  await press('Enter');
  await page.getByText(/^Revoke permanently/).waitFor();
  await tabTo(page, /^Revoke permanently/);
  await press('Enter');
  await page.getByText('The key is revoked.').waitFor();
  await close();
});

browserTest(
  'every page is clean for axe, in light and dark, wide and narrow',
  async () => {
    const { mock, url, dashboardUrl, close } = await serving();
    await using browser = await openBrowser();
    const { page } = browser;
    const findings: string[] = [];
    const look = async (name: string) => void findings.push(...(await lookAt(page, `dashboard-${name}`)));

    await page.goto(dashboardUrl);
    await look('1-welcome');
    const signIn = page.getByRole('region', { name: 'Sign in' });
    await signIn.getByLabel('E-mail address').fill('nobody@example.test');
    await signIn.getByRole('button').click();
    await look('2-refused');
    const signUp = page.getByRole('region', { name: 'Sign up' });
    await signUp
      .getByLabel('E-mail address')
      .fill('ada.lovelace.of.the.analytical.engine@a-very-long-domain.example.test');
    await signUp.getByLabel('Plan').selectOption('developer');
    await signUp.getByRole('button').click();
    await look('3-check-mail');
    await page.getByRole('link', { name: 'To your account' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await look('4-not-confirmed');
    await page.goto(link(mock, url));
    await look('5-confirmed');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = await page.getByLabel('API key').inputValue();
    await look('6-new-key');
    await page.reload();
    await look('7-shown-before');
    mock.keys.setUsage('key_1', { month: 61_803 });
    for (let number = 0; number < 137; number += 1) await call(url, key);
    await page.goto(dashboardUrl);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('link', { name: 'I have copied it' }).click();
    await page.locator('summary').first().click();
    await page.getByRole('button', { name: 'Revoke permanently' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('link', { name: 'I have copied it' }).click();
    await page.locator('summary').first().click();
    await look('8-account');
    await page.goto(`${url}/dashboard/confirm?token=x`);
    await look('9-link');

    expect(findings).toEqual([]);
    await close();
  },
  600_000,
);

/** Name of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate(
    '(document.activeElement.value || document.activeElement.textContent).trim().replace(/\\s+/g, " ")',
  );
}

async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (typeof name === 'string' ? now === name : name.test(now)) return;
  }
  throw new Error(`Tab never reaches ${name}`);
}

/** Whether the whole text of a field is visible. */
function isShownWhole(field: Locator): Promise<boolean> {
  return field.evaluate((box) => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight);
}
