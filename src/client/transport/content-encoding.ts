import { constants } from 'node:buffer';
import type { InputType, ZlibOptions } from 'node:zlib';

type Decompress = (bytes: InputType, options: ZlibOptions, done: (error: Error | null, bytes: Buffer) => void) => void;

/** By content coding (RFC 9110 §8.4.1). Loads zlib on demand, because the service rarely compresses. */
async function decompressorOf(encoding: string): Promise<Decompress | undefined> {
  const { brotliDecompress, gunzip, inflate } = await import('node:zlib');
  return new Map<string, Decompress>([
    ['gzip', gunzip],
    ['x-gzip', gunzip],
    ['deflate', inflate],
    ['br', brotliDecompress],
  ]).get(encoding);
}

/** The bytes of a body without its content coding, or the problem with it. */
type Decompressed = { readonly bytes: Buffer } | { readonly problem: string };

/** Decompresses a body of which at most `maxBytes` are wanted. */
export async function decompress(bytes: Uint8Array, encoding: string, maxBytes: number): Promise<Decompressed> {
  const run = await decompressorOf(encoding);
  if (run === undefined) return { problem: `The client cannot decode the content encoding '${encoding}'` };
  return new Promise((resolve) => {
    run(bytes, { maxOutputLength: Math.min(maxBytes, constants.MAX_LENGTH) }, (error, decompressed) => {
      if (error === null) resolve({ bytes: decompressed });
      else resolve({ problem: isCode(error, 'ERR_BUFFER_TOO_LARGE') ? tooLong(maxBytes) : notDecodable(error) });
    });
  });
}

export function tooLong(maxBytes: number): string {
  return `The body is longer than ${maxBytes} bytes (maxResponseBytes)`;
}

/** Whether the decompression of a streamed body failed because of its data. `fetch` has that error as the cause. */
export function isDataError(error: unknown): boolean {
  return isCode(error, 'Z_DATA_ERROR') || (error instanceof Error && isCode(error.cause, 'Z_DATA_ERROR'));
}

export function notDecodable(error: unknown): string {
  const { message } = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
  return `The body cannot be decoded: ${message}`;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
