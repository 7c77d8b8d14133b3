import { expect } from 'vitest';
import type { SignalName } from '../../../../src/cli/io/io.ts';
import { main } from '../../../../src/cli/program/main.ts';
import { FakeIo, type FakeIoOptions } from '../../../helpers/cli-io.ts';
import { deferred } from '../../../helpers/deferred.ts';
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

interface CommandOptions extends FakeIoOptions {
  readonly exit?: { readonly code: number | null; readonly signal: string | null };
}

/** Starts `fxrates mock … -- command` with a program that ends with `exit` when `end` is called. */
export async function startCommand(
  line: string,
  { exit = { code: 0, signal: null }, ...options }: CommandOptions = {},
) {
  const killed: SignalName[] = [];
  let program: { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> } | undefined;
  const exited = deferred<typeof exit>();
  const spawn: FakeIo['spawn'] = (command, env) => {
    program = { command, env };
    return { exited: exited.promise, kill: (name) => killed.push(name) };
  };
  const io = new FakeIo({ ...options, spawn });
  const running = main(line.split(' '), io);
  while (program === undefined) await quiet();
  const end = () => {
    exited.resolve(exit);
    return running;
  };
  return { io, killed, ...program, end };
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
