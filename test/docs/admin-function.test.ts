import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { readDocument } from '../helpers/document.ts';
import { hasProgram } from '../helpers/has-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const [definition = '', ...lines] = readDocument(process.cwd(), 'docs/mock-server.md').http;
const SETUP = { keys: [{ plan: 'developer' }], rules: [{ respond: { data: { note: 'x'.repeat(200_000) } } }] };

/** The effect of each line, by its beginning. */
const EFFECTS: Readonly<Record<string, (mock: MockServer, output: string) => unknown>> = {
  'PUT keys/key_1/usage \'{"minute"': (mock) => expect(mock.keys.get('key_1').minute.waitMs).toBeGreaterThan(0),
  'PUT keys/key_1/usage \'{"month"': (mock) => expect(mock.keys.get('key_1').month.used).toBe(1000),
  'DELETE keys/key_1': (mock) => expect(mock.keys.get('key_1').state).toBe('revoked'),
  'POST rules \'{"respond"': (mock) =>
    expect(mock.rules.list()).toMatchObject([{ respond: [{ status: 503 }], times: 2 }]),
  'POST rules \'{"delayMs"': (mock) => expect(mock.rules.list()).toMatchObject([{ delayMs: 20_000 }]),
  'PATCH behaviour': (mock) => expect(mock.behaviour.values.badParameter).toBe('422 invalid_parameter'),
  "PUT latest '": (mock) => expect(JSON.stringify(mock.rules.list())).toContain('1.10'),
  'POST clock': (mock) => expect(new Date(mock.clock.now()).toISOString()).toBe('2026-02-01T00:00:00.000Z'),
  'POST spaces': (_, output) => expect(JSON.parse(output)).toMatchObject({ name: 'invoices' }),
  'GET openapi.json': (_, output) => expect(output).toBe(''),
  "GET 'requests?": (_, output) => expect(JSON.parse(output)).toMatchObject({ entries: [], total: 0 }),
  'POST requests/find': (_, output) => expect(JSON.parse(output)).toMatchObject({ entries: [], total: 0 }),
  'POST requests/verify': (_, output) => expect(JSON.parse(output)).toEqual({ count: 0 }),
  'POST setup': (_, output) => expect(JSON.parse(output).keys).toHaveLength(1),
  'POST reset': (mock) => expect(mock.keys.list()).toMatchObject([{ id: 'key_1', state: 'active' }]),
};

describe.skipIf(!hasProgram('curl'))('the shell function of docs/mock-server.md', () => {
  const cwd = temporaryFolder();
  beforeAll(async () => {
    await writeFile(join(cwd, 'setup.json'), JSON.stringify(SETUP));
  });

  test.each(lines)('%s', async (line) => {
    await using mock = createMockServer({ clock: 'virtual', setup: { keys: [{}] } });
    const { adminUrl } = await mock.serve();
    const env = { PATH: process.env['PATH'], FXRATES_MOCK_ADMIN_URL: adminUrl, NO_PROXY: '*' };

    const { stdout } = await promisify(execFile)('sh', ['-c', `${definition}\n${line}`], { cwd, env });

    const effect = Object.entries(EFFECTS).find(([start]) => line.startsWith(`admin ${start}`));
    await effect?.[1](mock, stdout);
    expect(effect).toBeDefined();
  });
});
