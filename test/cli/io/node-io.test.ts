import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import crossSpawn from 'cross-spawn';
import { beforeEach, expect, test, vi } from 'vitest';
import { Interrupted, type SignalName } from '../../../src/cli/io/io.ts';
import { spawnFunction } from '../../../src/cli/io/node-io.ts';
import { readTypedLine } from '../../../src/cli/io/typed-line.ts';
import { writeWhole } from '../../../src/cli/io/write-whole.ts';

test('on Windows programs are started by cross-spawn, which finds npm.cmd', async () => {
  expect(await spawnFunction('win32')).toBe(crossSpawn);
  expect(await spawnFunction('linux')).toBe(spawn);
});

/** A disk with `free` bytes: a write stores what fits, and the next one fails. */
function disk(free: number) {
  const stored: number[] = [];
  const write = (_: number, bytes: Uint8Array) => {
    if (stored.length === free) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    const part = bytes.subarray(0, free - stored.length);
    stored.push(...part);
    return part.length;
  };
  return { write, text: () => Buffer.from(stored).toString() };
}

test('a disk that fills up during a write is an error', () => {
  const { write, text } = disk(4);

  expect(() => writeWhole(1, 'whole text', write)).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
  expect(text()).toBe('whol');
});

test.each(['whole téxt', Buffer.from('whole téxt')])('writes the rest after a partial write', (chunk) => {
  let text = Buffer.alloc(0);
  writeWhole(1, chunk, (_, bytes) => {
    text = Buffer.concat([text, bytes.subarray(0, 3)]);
    return Math.min(3, bytes.length);
  });

  expect(text.toString()).toBe('whole téxt');
});

test('returns what a full pipe does not accept', () => {
  const write = (_: number, bytes: Uint8Array) => {
    if (bytes.length <= 4) throw Object.assign(new Error('full'), { code: 'EAGAIN' });
    return bytes.length - 4;
  };

  expect(Buffer.from(writeWhole(1, 'whole text', write)).toString()).toBe('text');
});

/** A terminal that types `typed` after the question, and records whether the echo is off. */
function terminal(typed: string) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  let shown = '';
  const write = (text: string | Uint8Array) => {
    shown += String(text);
    if (typed !== '' && String(text).includes('Question')) queueMicrotask(() => stdin.write(typed));
    return true;
  };
  const interrupt = new AbortController();
  const receive = (name: SignalName) => interrupt.abort(new Interrupted(name));
  const stderr = { columns: 80, write };
  const read = ({ isHidden = true } = {}) =>
    readTypedLine({ stdin, stderr, receive, interrupted: interrupt.signal } as never, {
      question: 'Question: ',
      isHidden,
    });
  return { read, modes, stdin, interrupt, shown: () => shown };
}

/** The least that a terminal can do, as in some editors and CI. */
beforeEach(() => void vi.stubEnv('TERM', 'dumb'));

test.each([
  ['the key\r', 'the key'],
  ['the key\n', 'the key'],
  ['wrong\u0015right\r', 'right'],
  ['keyz\u007f\r', 'key'],
  ['keyz\u0008\r', 'key'],
  ['\u007f\u007fkey\r', 'key'],
  ['kéy…\r', 'kéy…'],
  ['first\rsecond\r', 'first'],
  ['\u0004', ''],
])('%j is read as %j without an echo', async (typed, line) => {
  const { read, modes, shown } = terminal(typed);

  expect(await read()).toBe(line);
  expect(modes).toEqual([true, false]);
  expect(shown()).toBe('Question: \n');
});

test('a visible line is echoed; later input is kept for the next line and never shown', async () => {
  const { read, shown } = terminal('urx\u007fl\rthe key\r');

  expect(await read({ isHidden: false })).toBe('url');
  expect(shown()).toContain('ur');
  expect(await read()).toBe('the key');
  expect(shown()).not.toContain('key');
});

test('the end of the input ends the line', async () => {
  const { read, stdin } = terminal('');
  const line = read();
  stdin.end();

  expect(await line).toBe('');
});

test.each([
  ['Ctrl-C', '\u0003', 'SIGINT'],
  ['Ctrl-\\', '\u001c', 'SIGQUIT'],
])('%s interrupts, and turns the echo of the terminal on again', async (_, key, signalName) => {
  const { read, modes } = terminal(`half a k${key}`);

  await expect(read()).rejects.toMatchObject({ name: 'Interrupted', signalName });
  expect(modes).toEqual([true, false]);
});

test('a signal turns the echo of the terminal on again', async () => {
  const { read, modes, interrupt } = terminal('half a k');
  const line = read();
  setImmediate(() => interrupt.abort(new Interrupted('SIGTERM')));

  await expect(line).rejects.toMatchObject({ signalName: 'SIGTERM' });
  expect(modes.at(-1)).toBe(false);
});
