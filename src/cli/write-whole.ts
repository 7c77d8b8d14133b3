import { fstatSync, writeSync } from 'node:fs';

/** Whether a file descriptor is a file on a disk, and not a terminal, a pipe or a device. */
export function isRegularFile(fileDescriptor: number): boolean {
  try {
    return fstatSync(fileDescriptor).isFile();
  } catch {
    return false; // a closed descriptor, or a handle of Windows without a status
  }
}

/**
 * Writes all of `chunk` to a file. A disk that fills up stores a part of a chunk and fails at the next write. The streams
 * of Node.js for files write once and ignore how much was stored.
 *
 * @throws the error of the system
 */
export function writeWhole(fileDescriptor: number, chunk: string | Uint8Array, write: WriteSome = writeSync): void {
  let rest: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  while (rest.length > 0) rest = rest.subarray(write(fileDescriptor, rest));
}

/** Returns the number of bytes written. */
type WriteSome = (fileDescriptor: number, bytes: Uint8Array) => number;
