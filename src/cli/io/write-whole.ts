import { writeSync } from 'node:fs';
import { codeOf } from '../../foreign-values.ts';

type WriteSome = (fileDescriptor: number, bytes: Uint8Array) => number;

/**
 * Writes to a file or a pipe without a stream, whose first use takes milliseconds. A disk that fills up stores a part of a
 * chunk and fails at the next write. Returns the bytes that a full pipe does not accept at the moment.
 *
 * @throws the error of the system
 */
export function writeWhole(
  fileDescriptor: number,
  chunk: string | Uint8Array,
  write: WriteSome = writeSync,
): Uint8Array {
  let rest: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  try {
    while (rest.length > 0) rest = rest.subarray(write(fileDescriptor, rest));
  } catch (error) {
    if (codeOf(error) !== 'EAGAIN') throw error; // of node:fs
  }
  return rest;
}
