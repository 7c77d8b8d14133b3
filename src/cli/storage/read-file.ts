import { createReadStream } from 'node:fs';

/** The bytes of a file, a pipe or a device. Rejects once it has more than `mostBytes`: `/dev/zero` has no end. */
export async function readLimited(path: string, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path)) {
    size += chunk.length;
    if (size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
