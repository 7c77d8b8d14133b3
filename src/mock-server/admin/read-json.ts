import type { IncomingMessage } from 'node:http';
import { Problem } from './problem.ts';

/** The JSON body of a request; `{}` where there is none. Refuses another type, too many bytes, and broken JSON. */
export async function readJsonBody(incoming: IncomingMessage, maxBytes: number): Promise<unknown> {
  const text = (await readBytes(incoming, maxBytes)).toString();
  if (text === '') return {};
  // A form of another site cannot have this type; a script of another site may not set it.
  if (!/^application\/json\b/i.test(incoming.headers['content-type'] ?? '')) {
    throw new Problem('The body must be JSON, with content-type: application/json.', {
      status: 415,
      code: 'json_required',
      field: 'Content-Type',
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message may quote the body.
    throw new Problem('The body is not JSON.', { status: 400, code: 'invalid_json' });
  }
}

async function readBytes(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= maxBytes) continue;
    throw new Problem(`The body is larger than ${maxBytes} bytes.`, { status: 413, code: 'content_too_large' });
  }
  return Buffer.concat(chunks);
}
