import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Without chromium, browser tests are reported as skipped. */
export const hasChromium = existsSync(CHROMIUM);
if (!hasChromium)
  process.stderr.write(`Browser tests are skipped: there is no ${CHROMIUM} (apt-get install chromium).\n`);

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A new, empty browser; `await using` closes it and deletes its folder. */
export async function openBrowser(options: BrowserContextOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'fxrates-chromium-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    args: ARGUMENTS,
    ...options,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  return {
    context,
    page,
    async [Symbol.asyncDispose]() {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Problems that axe-core reports for a page, by rule; includes its best practices. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  // The page's policy forbids foreign scripts, so axe is injected through the debugger.
  await page.evaluate(axe.source);
  const { result } = await session.send('Runtime.evaluate', {
    expression: 'axe.run().then(({ violations }) => JSON.stringify(violations))',
    awaitPromise: true,
    returnByValue: true,
  });
  const violations: readonly Violation[] = JSON.parse(String(result.value));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Checks one page in light, dark and at 390 px with axe. If SCREENSHOTS is set, saves pictures in that folder. */
export async function lookAt(page: Page, name: string): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const [look, colorScheme, width] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const picture = process.env['SCREENSHOTS'];
    if (picture !== undefined) await page.screenshot({ path: join(picture, `${name}-${look}.png`), fullPage: true });
    findings.push(...(await axeFindings(page)).map((finding) => `${name} ${look}: ${finding}`));
    if (await isWiderThanScreen(page)) findings.push(`${name} ${look}: wider than the screen`);
  }
  await page.setViewportSize({ width: 1200, height: 800 });
  return findings;
}

const LOOKS = [
  ['light', 'light', 1280],
  ['dark', 'dark', 1280],
  ['narrow', 'light', 390],
  ['narrow-dark', 'dark', 390],
] as const;

function isWiderThanScreen(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

export type { Page };
