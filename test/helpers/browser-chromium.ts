import { existsSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

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

/** Without cookies and caches of other runs. The tests of a file share it, because its start takes a second. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}

/** A page that shares nothing with other pages, in this browser or in a new one; `await using` closes it. */
export async function openBrowser(options: BrowserContextOptions = {}, shared?: Browser) {
  const browser = shared ?? (await launchBrowser());
  const context = await browser.newContext(options);
  context.setDefaultTimeout(0); // that of the test is enough, however busy the machine is
  const page = await context.newPage();
  return {
    context,
    page,
    async [Symbol.asyncDispose]() {
      await context.close();
      if (shared === undefined) await browser.close();
    },
  };
}

/** Problems that axe-core reports for a page, by rule; without named rules, also its best practices. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  // The page's policy forbids foreign scripts, so axe is injected through the debugger.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const options = JSON.stringify(rules === undefined ? {} : { runOnly: rules });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(${options}).then(({ violations }) => JSON.stringify(violations))`,
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

/** Checks one page in light, dark, at 360 and at 320 px. If SCREENSHOTS is set, saves pictures in that folder. */
export async function lookAt(page: Page, name: string): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const { look, colorScheme, width, rules } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const picture = process.env['SCREENSHOTS'];
    if (picture !== undefined) await page.screenshot({ path: join(picture, `${name}-${look}.png`), fullPage: true });
    const found = [...(await axeFindings(page, rules)), ...(await cutControls(page))];
    findings.push(...found.map((finding) => `${name} ${look}: ${finding}`));
    if (await isWiderThanScreen(page)) findings.push(`${name} ${look}: wider than the screen`);
  }
  await page.setViewportSize({ width: 1200, height: 800 });
  return findings;
}

/** The colour scheme changes only colours, and the width only the layout. */
const LOOKS = [
  { look: 'light', colorScheme: 'light', width: 1280, rules: undefined },
  { look: 'dark', colorScheme: 'dark', width: 1280, rules: ['color-contrast'] },
  { look: 'phone', colorScheme: 'light', width: 360, rules: ['target-size'] },
  { look: 'narrow', colorScheme: 'light', width: 320, rules: undefined },
] as const;

function isWiderThanScreen(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/** The controls that the screen cuts, and the lists that cut their chosen text, of which the browser reports no overflow. */
function cutControls(page: Page): Promise<readonly string[]> {
  return page.evaluate(`Array.from(document.querySelectorAll('a, button, input, select, summary, textarea'))
    .filter((control) => {
      const { left, right, width } = control.getBoundingClientRect();
      if (width < 2 || control.matches('.skip')) return false;
      if (left < 0 || right > document.documentElement.clientWidth) return true;
      if (control.tagName !== 'SELECT') return false;
      const { font, paddingLeft, paddingRight } = getComputedStyle(control);
      const context = document.createElement('canvas').getContext('2d');
      context.font = font;
      const text = context.measureText(control.selectedOptions[0]?.text ?? '').width;
      return text + parseFloat(paddingLeft) + parseFloat(paddingRight) + 16 > control.clientWidth;
    })
    .map((control) => 'cut: ' + control.outerHTML.slice(0, 120))`);
}

export type { Page };
