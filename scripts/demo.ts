/**
 * `npm run demo`: a tour of the built command line in a few seconds. It calls the mock server on a real port until it
 * reaches the per-minute limit, then waits. Exits with 1 if a result is not what the README describes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { createMockServer, type JournalEntry } from '../src/mock-server/index.ts';

const CLI = fileURLToPath(new URL('../dist/cli/fxrates.cjs', import.meta.url));
const LIMIT = 30;
/** Time until the first request's minute ends when the burst begins. The last command waits about as long. */
const REST_OF_MINUTE_MS = 6_000;

const startedAt = performance.now();
const mock = createMockServer();
const { key, id } = mock.createKey({ plan: 'free' });
const server = await mock.serve();

say(`A mock of the service runs at ${server.url} (Free plan).`);
await fxrates('quota');
await fxrates('latest', 'base=USD');

const firstAt = mock.journal.list()[0]?.at ?? mock.clock.now();
await mock.clock.advanceTo(firstAt + 60_000 - REST_OF_MINUTE_MS);
const burst = await Promise.all(Array.from({ length: LIMIT - 2 }, callAsOthersWould));
promise(
  'the rest of the minute is served',
  burst.every((status) => status === 200),
);

say(`${LIMIT - 2} more requests have used up the key's ${LIMIT} per minute. The next call waits:`);
await fxrates('latest', 'base=EUR', '--get', 'rates.USD');
checkTheWait(mock.journal.list().slice(-2));

await mock.close();
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
say(`${process.exitCode === 1 ? 'Some checks failed' : 'All checks passed'} in ${seconds} s.`);
say(
  'To start a mock server:  node dist/cli/fxrates.cjs mock\nTo see all commands:     node dist/cli/fxrates.cjs --help',
);

/** Runs the built command as a user would, on this terminal. */
async function fxrates(...args: readonly string[]): Promise<void> {
  const line = `fxrates ${args.join(' ')}`;
  say(styleText('bold', `$ ${line}`, { stream: process.stdout }));
  const child = spawn(process.execPath, [CLI, ...args], {
    stdio: 'inherit',
    // A folder without the settings of the developer.
    env: {
      ...process.env,
      FXRATES_CONFIG_DIR: import.meta.dirname,
      FXRATES_BASE_URL: server.url,
      FXRATES_API_KEY: key,
    },
  });
  const [exitCode] = await once(child, 'exit');
  promise(`${line} exits 0`, exitCode === 0);
}

async function callAsOthersWould(): Promise<number> {
  const response = await fetch(`${server.url}/api/v1/latest`, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  return response.status;
}

/** The last call must be refused once, wait exactly for Retry-After, and succeed. Only served requests are counted. */
function checkTheWait([refused, served]: readonly JournalEntry[]): void {
  const waitedMs = (served?.at ?? 0) - (refused?.at ?? 0);
  promise('the call above the limit is refused once: 429 rate_limited', refused?.code === 'rate_limited');
  promise(
    `it is sent again ${(waitedMs / 1000).toFixed(1)} s later, not before Retry-After`,
    served?.earlyByMs === undefined,
  );
  promise('then it is served', served?.status === 200 && waitedMs > 0);
  const { used } = mock.keys.get(id).month;
  promise(`${used} requests count toward the month: neither quota nor the refused one`, used === LIMIT);
}

function promise(text: string, isKept: boolean): void {
  process.stdout.write(`${isKept ? 'ok    ' : 'FAILED'}  ${text}\n`);
  if (!isKept) process.exitCode = 1;
}

function say(text: string): void {
  process.stdout.write(`\n${text}\n`);
}
