import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import * as nodeFiles from 'node:fs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { StateFolder } from '../../src/client/file-store/state-folder.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { bundledProgram } from '../helpers/child-program.ts';
import type { CallsEnded, CallsOrder, SharingOptions } from '../helpers/sharing-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const PROCESS = await bundledProgram(new URL('../helpers/sharing-process.ts', import.meta.url));
const ORDER: CallsOrder = { calls: 40, deadlineMs: 100_000 };

async function makeCalls(child: ChildProcess): Promise<CallsEnded> {
  const ended = once(child, 'message');
  child.send(ORDER);
  const [report] = (await ended) as [CallsEnded];
  return report;
}

/** The state of the only key. */
function readState(root: string): unknown {
  const [name = ''] = readdirSync(root);
  return new StateFolder(join(root, name), nodeFiles).read();
}

test('if one of four processes is killed at any moment, the others serve all calls', async () => {
  const root = join(temporaryFolder(), 'limits');
  await using mock = createMockServer();
  const { url } = await mock.serve();
  const { key } = mock.createKey({ plan: 'unlimited' });
  const options: SharingOptions = { baseUrl: url, apiKey: key, perMinute: 1_000, place: root };
  const start = () => fork(PROCESS, [JSON.stringify(options)], { stdio: 'inherit' });
  const processes = Array.from({ length: 6 }, start);
  await Promise.all(processes.map((child) => once(child, 'message')));
  const survivors = processes.slice(3);

  for (const [round, killed] of processes.slice(0, 3).entries()) {
    const gone = once(killed, 'exit');
    killed.send(ORDER);
    const others = Promise.all(survivors.map(makeCalls));
    await sleep(30 * round);
    killed.kill('SIGKILL');
    await gone;

    const ended = await others;
    expect(ended.map(({ ok, errors, warnings }) => ({ ok, errors, warnings }))).toEqual(
      Array(3).fill({ ok: ORDER.calls, errors: [], warnings: [] }),
    );
    expect(readState(root)).toMatchObject({ stored: { state: expect.stringMatching(/^\{"version":\d+,"at":.*\}$/) } });
  }
  for (const child of survivors) child.disconnect();
});
