import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { bundledProgram } from '../helpers/child-program.ts';
import { respond, startRawServer } from '../helpers/raw-server.ts';
import { failure, success } from '../helpers/service-replies.ts';

const child = await bundledProgram(new URL('./frozen-intrinsics.child.ts', import.meta.url));

test('calls, batches, polls and the mock server work with frozen built-in objects', async () => {
  const server = await startRawServer({
    onRequest: ({ socket, head }) =>
      respond(socket, head.includes('refuse=') ? failure(400, { code: 'bad_base' }) : success({ EUR: 1 })),
  });
  onTestFinished(() => server.close());

  const { stdout } = await promisify(execFile)(process.execPath, ['--frozen-intrinsics', child, server.url]);

  expect(JSON.parse(stdout)).toEqual({
    latest: { EUR: 1 },
    batch: [{ EUR: 1 }, { EUR: 1 }],
    'batch that is left': { EUR: 1 },
    poll: { EUR: 1 },
    refused: 'RequestError bad_base',
    aborted: 'AbortError undefined',
    mock: 'string',
    reset: 'NetworkError ECONNRESET',
    truncate: 'NetworkError UND_ERR_SOCKET',
    'error with the key': 'NetworkError undefined',
  });
});
