import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isRegularFile, writeWhole } from '../../src/cli/write-whole.ts';

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

test('appends to a file, and recognises one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxrates-write-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'out');
  const fileDescriptor = openSync(path, 'a');

  writeWhole(fileDescriptor, 'one\n');
  writeWhole(fileDescriptor, 'two\n');

  expect(isRegularFile(fileDescriptor)).toBe(true);
  closeSync(fileDescriptor);
  expect(isRegularFile(fileDescriptor)).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
});
