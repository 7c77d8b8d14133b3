import { createServer } from 'node:http';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { httpFetch } from '../../../src/cli/io/http-fetch.ts';
import { realClock } from '../../../src/cli/io/node-io.ts';
import { main } from '../../../src/cli/program/main.ts';
import { WaitReporter } from '../../../src/cli/request/wait-reporter.ts';
import type { Invocation } from '../../../src/cli/settings/settings.ts';
import { Screen } from '../../../src/cli/terminal/screen.ts';
import type { WaitEvent } from '../../../src/client/index.ts';
import { FakeIo, jsonLines, runCli } from '../../helpers/cli-io.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { close, listen } from '../../helpers/listen.ts';
import { failedFetch, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';

const replies = [rateLimited('3'), success({ a: 1 })];

test.each([
  [80, 'Rate limited. Retrying in # s — Ctrl-C to stop'],
  [40, 'Rate limited. Retrying in # s'],
  [25, 'Retrying in # s'],
  [12, 'Retrying in'],
])('on a terminal of %d columns the wait is one line that counts down and is erased', async (columns, line) => {
  const { code, stdout, stderr } = await runCli('latest', { replies, tty: ['stderr'], columns });

  const frames = stripVTControlCharacters(stderr).split('\r').filter(Boolean);
  expect([frames[0], frames.at(-1)]).toEqual(['3', '1'].map((left) => line.replace('#', left)));
  expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThan(columns);
  expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
  expect(stderr).not.toContain('\n');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"a":1}\n' });
});

const AT = '"at":"2026-01-21T14:20:00.000Z"';

test.each([
  ['latest', [], 'fxrates: rate limited, waiting 3 s\n'],
  ['latest --json', [], `{"event":"wait","reason":"rate_limited","wait_seconds":3,${AT}}\n`],
  ['latest -q', [], ''],
  ['latest -q', ['stderr'], ''],
] as const)('%s with the terminals %j reports a wait in one line, or not at all', async (line, tty, expected) => {
  const { code, stdout, stderr } = await runCli(line, { replies, tty });

  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"a":1}\n' });
  expect(stderr.replaceAll('\r\u001b[2K', '')).toBe(expected);
});

test.each([
  ['latest', 'fxrates: rate limited (fair_use), waiting 3 s\n'],
  ['latest --no-wait', 'fxrates: rate limited (fair_use) — retry in 3 s, and waiting is off'],
  ['latest --max-wait 1s', 'fxrates: rate limited (fair_use) — retry in 3 s, longer than --max-wait 1s'],
  ['batch --each n=1', '1 succeeded, 0 failed, 1 request over the limit (fair_use)\n'],
])('a code that is not documented is named, because its wait can be long: %s', async (line, says) => {
  const fairUse = failure(429, { code: 'fair_use', headers: { 'retry-after': '3' } });

  const { stderr } = await runCli(line, {
    replies: [fairUse, success(quotaRecord({ monthly_limit: null })), success()],
  });

  expect(stderr).toContain(says);
});

test.each([
  ['--retries 40 --max-wait 5s', failure(503), 5, 'server'],
  ['--retries 40 --max-wait 5s', failedFetch('ECONNREFUSED'), 6, 'network'],
])('%s: waits during an outage do not count as waits for the limit', async (options, reply, exitCode, kind) => {
  const { code, stderr, requests } = await runCli(`latest --json ${options}`, { replies: reply });

  const events = jsonLines(stderr);
  expect([code, events.at(-1).error.code]).toEqual([exitCode, kind]);
  // Each retry has the number of its request, however often the client waited.
  expect(events.filter(({ event }) => event === 'retry').map(({ attempt }) => attempt)).toEqual(
    requests.map((_, index) => index + 2),
  );
});

test('a wait whose end moves, because other commands use the limit, is a line each half minute', async () => {
  const { wait, clock, written } = reporterWith({ maxWaitMs: 600_000 });

  for (let second = 0; second < 60; second += 2) {
    wait({ waitMs: 2_000, reason: 'window' });
    await clock.advance(2_000);
  }

  expect(written).toEqual(Array(2).fill('fxrates: rate limited, waiting 2 s\n'));
});

test.each([
  ['latest', '1.5', 1.5, 0],
  ['latest', '600', 600, 0],
  ['latest', '601', 0, 7],
  ['latest', '86400', 0, 7],
  ['latest --max-wait 999999999h', '86400', 86_400, 0],
  ['latest', '1e12', 0, 0], // not a number of the documented form, so it counts as absent
])('%s, Retry-After %s: waits %d s, then exits with %d', async (line, retryAfter, seconds, exitCode) => {
  const clock = new FakeClock();
  const startedAt = clock.now();

  const { code, requests } = await runCli(line, { replies: [rateLimited(retryAfter), success()], clock });

  expect([code, requests.length]).toEqual([exitCode, exitCode === 0 ? 2 : 1]);
  if (exitCode === 0) expect(clock.now() - startedAt).toBeGreaterThanOrEqual(seconds * 1000);
  else expect(clock.now()).toBe(startedAt);
});

test.each(['latest --no-wait', 'latest --max-wait 2s'])('%s warns of a doubtful unit of Retry-After', async (line) => {
  const { code, stderr } = await runCli(line, { replies: rateLimited('5000') });

  expect(code).toBe(7);
  expect(stderr).toMatch(/Retry-After 5000 is read in milliseconds, .*\n.*rate limited — retry in 5 s, /);
});

const BOTH = ', with the earlier waits longer than --max-wait 1m\n\n  To wait:  --max-wait 75s\n';

test.each<[maxWait: string, retryAfter: string, expected: readonly number[], says: string]>([
  ['3s', '3', [0, 2, 3_000], ''],
  ['2999ms', '3', [7, 1, 0], ''],
  ['1500ms', '1.5', [0, 2, 1_500], ''],
  ['3s', '2', [7, 2, 2_000], ''],
  ['4s', '2', [7, 3, 4_000], ''],
  ['60s', '25', [7, 3, 50_000], BOTH],
])('--max-wait %s bounds the sum of waits of %s s: exit code, requests and wait are %j', async (...given) => {
  const [maxWait, retryAfter, expected, says] = given;
  const clock = new FakeClock();
  const startedAt = clock.now();
  const refusal = rateLimited(retryAfter);
  const replies = expected[0] === 0 ? [refusal, success()] : refusal;

  const { code, requests, stderr } = await runCli(`latest --max-wait ${maxWait}`, { replies, clock });

  expect([code, requests.length, clock.now() - startedAt]).toEqual(expected);
  expect(stderr).toContain(says);
});

test('over a connection, waits that add up to --max-wait are allowed', async () => {
  const { status, headers, body } = rateLimited('0.2');
  let requests = 0;
  const service = createServer((_, response) => {
    requests += 1;
    if (requests < 3) response.writeHead(status, headers).end(JSON.stringify(body));
    else response.end('{"success":true,"data":{}}');
  });
  const url = `http://127.0.0.1:${await listen(service)}`;
  onTestFinished(() => close(service));

  const { code } = await runCli(`latest --max-wait 400ms --base-url ${url}`, { clock: realClock, fetch: httpFetch });

  expect([code, requests]).toEqual([0, 3]);
});

/** A reporter, and what it writes to stderr. */
function reporterWith({ isJson = false, maxWaitMs = 10_000 } = {}) {
  const clock = new FakeClock();
  const written: string[] = [];
  const io = new FakeIo({ clock });
  Object.assign(io.stderr, { write: async (text: string) => void written.push(text) });
  const settings = { maxWaitMs, quiet: 0, verbose: 0 };
  const screen = new Screen(io, { ...settings, color: 'never', output: isJson ? 'json' : 'auto' });
  const reporter = new WaitReporter({ io, screen, settings, options: {} } as unknown as Invocation);
  const wait = (event: object) => reporter.hooks.onWait?.(event as WaitEvent);
  return { reporter, wait, clock, written };
}

test('the time by which a timer is late does not count', async () => {
  const { reporter, wait, clock } = reporterWith({ maxWaitMs: 4_000 });

  wait({ waitMs: 2_000 });
  await clock.advance(2_500);
  wait({ waitMs: 2_000 });
  expect(reporter.signal.aborted).toBe(false);

  await clock.advance(2_000);
  wait({ waitMs: 1_000 });
  expect(reporter.signal.aborted).toBe(true);
});

test('a wait that becomes longer counts once', async () => {
  const { reporter, wait, clock } = reporterWith();

  wait({ waitMs: 6_000 });
  await clock.advance(1_000);
  wait({ waitMs: 8_000 });
  expect(reporter.signal.aborted).toBe(false);

  await clock.advance(8_000);
  wait({ waitMs: 3_000 });
  expect(reporter.signal.reason).toMatchObject({ details: { why: expect.stringContaining('with the earlier waits') } });
});

test.each([
  [false, 'fxrates: other requests of this key are in flight, waiting 1 s\n'],
  [true, '{"event":"wait","reason":"in_flight","wait_seconds":1,"at":"2026-01-21T14:20:00.000Z"}\n'],
])('waits for requests in flight are reported once, and --no-wait allows them (--json: %s)', (isJson, expected) => {
  const { reporter, wait, written } = reporterWith({ isJson, maxWaitMs: 0 });

  for (let second = 0; second < 5; second += 1) wait({ waitMs: 1000, limits: { reason: 'in_flight' } });

  expect(written).toEqual([expected]);
  expect(reporter.signal.aborted).toBe(false);
});

const down = (retryAfter: string) => failure(503, { headers: { 'retry-after': retryAfter } });
const once = (reply: Reply) => [reply, success()];
const [ofLimit, ofService] = [7, 5];

test.each([
  // Of the limit: --no-wait sends nothing again, --max-wait waits up to its value.
  ['a 429 with Retry-After 1', once(rateLimited('1')), { byDefault: [0, 2], noWait: [ofLimit, 1], maxWait: [0, 2] }],
  ['a 429 for 30 s', once(rateLimited('30')), { byDefault: [0, 2], noWait: [ofLimit, 1], maxWait: [ofLimit, 1] }],
  [
    'a 429 after a 503',
    [down('5'), rateLimited('30'), success()],
    { byDefault: [0, 3], noWait: [ofLimit, 2], maxWait: [ofLimit, 2] },
  ],
  // Of a service that fails: the retries decide, not the options for the limit.
  ['a 503 with Retry-After 5', once(down('5')), { byDefault: [0, 2] }],
  ['a 503 with Retry-After 60', once(down('60')), { byDefault: [0, 2] }],
  ['two 503 with Retry-After 90', [down('90'), down('90'), success()], { byDefault: [0, 3] }],
  ['a 503 with Retry-After 91', once(down('91')), { byDefault: [ofService, 1] }],
  ['two lost connections', [failedFetch('ECONNRESET'), failedFetch('ECONNRESET'), success()], { byDefault: [0, 3] }],
  ['an outage that eight attempts meet', [...Array(8).fill(failure(503)), success()], { byDefault: [0, 9] }],
])('%s: exit code and requests by default, with --no-wait and --max-wait 1s are %j', async (_, replies, expected) => {
  const line = `latest --retries ${Math.max(2, replies.length - 1)}`;
  const { byDefault, noWait = byDefault, maxWait = byDefault }: Partial<Record<string, number[]>> = expected;

  for (const [options, outcome] of [
    ['', byDefault],
    [' --no-wait', noWait],
    [' --max-wait 1s', maxWait],
  ] as const) {
    const { code, requests } = await runCli(`${line}${options}`, { replies });

    expect([options, code, requests.length]).toEqual([options, ...(outcome ?? [])]);
  }
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends a wait immediately with %d, and erases the line', async (name, exitCode) => {
  const clock = new FakeClock();
  const io = new FakeIo({ replies: rateLimited('30'), tty: ['stderr'], clock });
  const running = main(['latest'], io);
  await clock.advance(2_000);
  const interruptedAt = clock.now();

  io.interrupt(name);
  const code = await running;

  expect(code).toBe(exitCode);
  expect(clock.now()).toBe(interruptedAt);
  expect(io.written.stdout).toBe('');
  expect(io.written.stderr.endsWith('\r\u001b[2K')).toBe(true);
});

test('Ctrl-C during a request ends the command', async () => {
  const io = new FakeIo({ replies: 'never' });
  const running = main(['latest'], io);
  await (io.clock as FakeClock).advance(0);

  io.interrupt('SIGINT');

  expect(await running).toBe(130);
});

test.each([
  ['service', { cause: 'the service is down', reason: 'server' }],
  ['window', { cause: 'rate limited', reason: 'rate_limited' }],
  ['retry_after', { cause: 'rate limited', reason: 'rate_limited' }],
])('a wait because of %s is reported with that cause', (reason, shown) => {
  const people = reporterWith();
  const programs = reporterWith({ isJson: true });
  for (const { wait } of [people, programs]) wait({ waitMs: 2_000, reason });

  expect(people.written.join('')).toContain(`fxrates: ${shown.cause}, waiting 2 s`);
  expect(programs.written.join('')).toContain(`"reason":"${shown.reason}"`);
});
