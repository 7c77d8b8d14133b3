import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import crossSpawn from 'cross-spawn';
import { expect, test } from 'vitest';
import { readTypedLine, spawnFunction } from '../../../src/cli/io/node-io.ts';
import { writeWhole } from '../../../src/cli/io/write-whole.ts';

/** A terminal that types `typed` at the prompt, and records whether the echo is off. */
function terminal(typed: string) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  const shown: string[] = [];
  const read = ({ isHidden = true } = {}) => {
    const ask = async () => void stdin.write(typed);
    return readTypedLine(stdin as never, { ask, isHidden }, async (text) => void shown.push(text));
  };
  return { read, modes, shown };
}

test.each([
  ['the key\r', 'the key'],
  ['the key\n', 'the key'],
  ['the key\u0004', 'the key'],
  ['wrong\u0015right\r', 'right'],
  ['keyz\u007f\r', 'key'],
  ['keyz\u0008\r', 'key'],
  ['\u007f\u007fkey\r', 'key'],
  ['kéy…\r', 'kéy…'],
  ['first\rsecond\r', 'first'],
])('%j is read as %j', async (typed, line) => {
  const { read, modes } = terminal(typed);

  expect(await read()).toBe(line);
  expect(modes).toEqual([true, false]);
});

test('a visible line is echoed and can be edited; later input is kept for the next line', async () => {
  const { read, shown } = terminal('urx\u007fl\rthe key\r');

  expect(await read({ isHidden: false })).toBe('url');
  expect(shown.join('')).toBe('urx\b \bl');
  expect(await read()).toBe('the key');
  expect(shown.join('')).toBe('urx\b \bl');
});

test.each([
  ['Ctrl-C', '\u0003', 'SIGINT'],
  ['Ctrl-\\', '\u001c', 'SIGQUIT'],
])('%s interrupts, and turns the echo of the terminal on again', async (_, key, signalName) => {
  const { read, modes } = terminal(`half a k${key}`);

  await expect(read()).rejects.toMatchObject({ name: 'Interrupted', signalName });
  expect(modes).toEqual([true, false]);
});

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
