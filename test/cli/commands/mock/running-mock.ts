import { expect } from 'vitest';
import { main } from '../../../../src/cli/main.ts';
import { FakeIo, type FakeIoOptions } from '../../../helpers/cli-io.ts';
import { quiet } from '../../../helpers/fake-clock.ts';

/** Starts `fxrates mock …` on a free port and waits for its line. `stop` returns all that it has written. */
export async function startMock(args: string | readonly string[] = '', options: FakeIoOptions = {}) {
  const io = new FakeIo(options);
  const words = typeof args === 'string' ? args.split(' ').filter((word) => word !== '') : args;
  const exited = main(['mock', '--port', '0', ...words], io);
  while (!io.written.stdout.includes('\n')) await quiet();
  const stop = async () => {
    io.interrupt('SIGTERM');
    expect(await exited).toBe(0);
    return io.written;
  };
  return { io, exited, stop };
}

export interface Ready {
  readonly url: string;
  readonly key: string;
  readonly plan: string;
  readonly adminUrl: string;
  readonly keys?: readonly { readonly id: string; readonly key: string }[];
}

/** Runs `fxrates mock` until `use` ends. */
export async function withMock<Result>(
  args: string | readonly string[],
  use: (ready: Ready) => Result | Promise<Result>,
): Promise<Result> {
  const words = typeof args === 'string' ? args.split(' ') : args;
  const { io, stop } = await startMock(['--json', ...words.filter((word) => word !== '')]);
  const result = await use(JSON.parse(io.written.stdout));
  await stop();
  return result;
}
