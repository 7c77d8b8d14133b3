import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/cli-io.ts';
import { failure } from '../helpers/service-replies.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Contains `_live_` and 20 letters and digits after it, but is not a key. */
const FEED = 'eur_live_snapshot20260131T1405';
const DATA = `{"feed_id":"${FEED}","rate":1.10}`;
const BODY = `{"success":true,"data":${DATA}}`;
/** A key of the documented form that is in no setting. */
const KEY = `fx_live_${'ca11ab1e'.repeat(5)}0f1e9c2d`;
const IN_URL = KEY.replaceAll('_', '%5F');

test.each([
  ['latest', `${DATA}\n`],
  ['latest --json', `${DATA}\n`],
  ['latest -o tsv', `feed_id\t${FEED}\nrate\t1.10\n`],
  ['latest --envelope', `${BODY}\n`],
  ['latest --get feed_id', `${FEED}\n`],
  ['api /api/v1/latest', BODY],
  ['api /api/v1/latest -i', `HTTP 200\ncontent-type: text/plain;charset=UTF-8\nx-feed: ${FEED}\n\n${BODY}`],
  ['latest --fixture-out /dev/stdout', `{"":${BODY}}\n`],
])('%s prints data that only looks like a key unchanged', async (line, expected) => {
  const file = join(temporaryFolder(), 'responses.json');
  const replies = { headers: { 'x-feed': FEED }, body: BODY };

  const { stdout } = await runCli(line.replace('/dev/stdout', file), { replies });

  expect(line.includes('fixture') ? readFileSync(file, 'utf8') : stdout).toBe(expected);
});

test.each([
  ['as it is', KEY, 'fx_live_…9c2d'],
  ['as in a URL', IN_URL, 'fx%5Flive_…9c2d'],
  ['as in a URL, in small letters', IN_URL.toLowerCase(), 'fx%5flive_…9c2d'],
  ['in capitals', KEY.toUpperCase(), 'FX_live_…9C2D'],
])('a key in the data is masked everywhere, %s', async (_, key, mask) => {
  const file = join(temporaryFolder(), 'responses.json');
  const replies = { headers: { 'x-key': key }, body: `{"success":true,"data":{"echo":"${key}"}}` };

  const formats = ['', '--json', '-o tsv', '--envelope', '--get echo'];
  for (const line of [...formats.map((format) => `latest ${format}`), 'api /x -i']) {
    const { code, stdout } = await runCli(line, { replies });

    expect([line, code]).toEqual([line, 0]);
    expect(stdout).toContain(mask);
    expect(stdout).not.toContain(key);
  }
  await runCli(['latest', '--fixture-out', file], { replies });
  expect(readFileSync(file, 'utf8')).toContain(`"echo":"${mask}"`);
});

test.each([
  ['what the service says', 'latest', 'fx_live_…9c2d'],
  ['what was typed', `config get -- ${IN_URL}`, 'fx%5Flive_…9c2d'],
  ['what was typed, cut short', `latest ${KEY.slice(0, 30)}`, 'fx_live_…'],
  ['what is shown of a request', `latest base=${FEED} -v`, 'eur_live_…1405'],
])('%s masks everything that looks like a key', async (_, line, mask) => {
  const { stderr } = await runCli(line, { replies: failure(404, { message: `You sent ${KEY}` }) });

  expect(stderr).toContain(mask);
  for (const text of [KEY, IN_URL, KEY.slice(0, 30), FEED]) expect(stderr).not.toContain(text);
});
