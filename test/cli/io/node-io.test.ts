import { spawn } from 'node:child_process';
import crossSpawn from 'cross-spawn';
import { expect, test } from 'vitest';
import { spawnFunction } from '../../../src/cli/io/node-io.ts';
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
