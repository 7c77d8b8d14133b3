import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { hasBundle, runBundle } from '../helpers/cli-bundle.ts';

const mock = createMockServer();
const { key } = mock.createKey({ plan: 'developer' });
let folder = '';
let url = '';

beforeAll(async () => {
  url = (await mock.serve()).url;
  folder = await mkdtemp(join(tmpdir(), 'fxrates-fixture-'));
});

afterAll(async () => {
  await mock.close();
  await rm(folder, { recursive: true });
});

describe.skipIf(!hasBundle)('the built command', () => {
  test('adds the responses of eight commands at the same time, and a mock replays them', async () => {
    const file = join(folder, 'responses.ndjson');
    const currencies = ['EUR', 'GBP', 'CHF', 'USD'].flatMap((base) => ['1', '2'].map((n) => [base, n]));
    const env = { FXRATES_BASE_URL: url, FXRATES_API_KEY: key };

    const results = await Promise.all(
      currencies.map(([base, n]) => runBundle(['latest', `base=${base}`, `n=${n}`, '--fixture-out', file], { env })),
    );

    expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr)).join('')).toBe('');
    const replay = createMockServer({ replay: await readFile(file, 'utf8') });
    const headers = { authorization: `Bearer ${replay.createKey({ plan: 'developer' }).key}` };
    for (const [base, n] of currencies) {
      const response = await replay.fetch(`${replay.baseUrl}/api/v1/latest?base=${base}&n=${n}`, { headers });
      expect(await response.json()).toMatchObject({ success: true, data: { base } });
    }
  });
});
