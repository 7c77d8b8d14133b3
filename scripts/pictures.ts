/**
 * `npm run pictures`: takes the pictures of the documents again. They show the built command line in a
 * terminal, and the pages of a mock server in a browser. Needs chromium, script (util-linux) and convert (ImageMagick).
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createMockServer } from '../src/mock-server/index.ts';
import { openBrowser, type Page } from '../test/helpers/browser-chromium.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const CLI = `${process.execPath} ${root}dist/cli/fxrates.cjs`;
const COLUMNS = 80;
/** Calls in the picture of the panel. The last ones exceed the 30 calls per minute. */
const BURSTS = [3, 7, 1, 4, 9, 2, 6, 5];
const SECONDS_BETWEEN_BURSTS = 7;

const mock = createMockServer({ seed: 7 });
const { key, id } = mock.createKey({ plan: 'free' });
mock.keys.setUsage(id, { month: 612 });
const { url, adminUrl, close } = await mock.serve({ port: 4010 });

await using browser = await openBrowser({ viewport: { width: 960, height: 720 } });
const { page } = browser;
await terminal(page, ['quota', 'latest base=USD --get rates.EUR', 'latest base=USD --get rates.BTC']);
await panel(page);
await close();

/** The commands that one terminal shows in turn. */
async function terminal(page: Page, commands: readonly string[]): Promise<void> {
  const sessions: string[] = [];
  for (const command of commands) sessions.push(`\x1b[32m$\x1b[0m fxrates ${command}\r\n${await played(command)}`);
  const text = sessions.join('\r\n');
  await page.setContent(
    '<body style="margin:0;background:#1e1e1e"><div id="terminal" style="display:inline-block;padding:12px"></div>',
  );
  await page.addStyleTag({ path: fileURLToPath(import.meta.resolve('@xterm/xterm/css/xterm.css')) });
  await page.addScriptTag({ path: fileURLToPath(import.meta.resolve('@xterm/xterm/lib/xterm.js')) });
  await page.evaluate(showInTerminal, { text, rows: text.split('\n').length, cols: COLUMNS });
  await page.locator('#terminal').screenshot({ path: `${root}docs/pictures/terminal.png` });
}

/** Runs in the page. It does not use the types of xterm, which add every browser API to the whole project. */
function showInTerminal({ text, ...size }: { text: string; rows: number; cols: number }): Promise<void> {
  const { Terminal, document } = globalThis as unknown as {
    Terminal: new (options: object) => { open(element: unknown): void; write(text: string, done: () => void): void };
    document: { getElementById(id: string): unknown };
  };
  const theme = { background: '#1e1e1e', red: '#f14c4c', green: '#23d18b' };
  const look = { fontSize: 14, lineHeight: 1.2, fontFamily: 'DejaVu Sans Mono, monospace', theme };
  const terminal = new Terminal({ ...size, ...look, cursorInactiveStyle: 'none' });
  terminal.open(document.getElementById('terminal'));
  return new Promise((resolve) => terminal.write(text, resolve));
}

/** The bytes that a command writes to a terminal. */
async function played(command: string): Promise<string> {
  const env = { ...process.env, FXRATES_BASE_URL: url, FXRATES_API_KEY: key, TERM: 'xterm-256color' };
  const line = `stty cols ${COLUMNS}; ${CLI} ${command}; true`;
  const { stdout } = await promisify(execFile)('script', ['-qec', line, '/dev/null'], { env });
  return stdout;
}

/** A minute of calls, of which the last ones are refused. */
async function panel(page: Page): Promise<void> {
  for (const calls of BURSTS) {
    await mock.clock.advance(SECONDS_BETWEEN_BURSTS * 1_000);
    for (let call = 0; call < calls; call += 1) {
      await fetch(`${url}/api/v1/latest?base=EUR`, { headers: { authorization: `Bearer ${key}` } });
    }
  }
  await page.goto(adminUrl);
  await page.getByRole('listitem').getByText('429').first().waitFor();
  await page.setViewportSize({ width: 1120, height: 2050 }); // includes the gauges of the key
  const path = `${root}docs/pictures/panel.png`;
  await page.screenshot({ path });
  // The picture is in the package. With 64 colours, it has a third of its bytes.
  await promisify(execFile)('convert', [path, '+dither', '-colors', '64', `PNG8:${path}`]);
}
