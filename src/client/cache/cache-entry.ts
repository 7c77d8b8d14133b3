import * as z from 'zod';

/** An answer as it is stored: the exact text, so that no digit changes on the way through a store. */
export interface CacheEntry {
  /** Epoch milliseconds at which the answer arrived. */
  readonly storedAtMs: number;
  readonly status: number;
  readonly headers: Headers;
  readonly rawBody: string;
}

const VERSION = 1;

const storedEntry = z.object({
  version: z.literal(VERSION),
  storedAtMs: z.number(),
  status: z.int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
});

/** A line of JSON about the answer, and below it the answer as it came: JSON in JSON would have to be read twice. */
export function encodeEntry({ headers, rawBody, ...entry }: CacheEntry): string {
  return `${JSON.stringify({ version: VERSION, ...entry, headers: [...headers] })}\n${rawBody}`;
}

/** `undefined` for anything else than what `encodeEntry` made: a store is shared, and may hold what others left. */
export function decodeEntry(stored: unknown): CacheEntry | undefined {
  try {
    const text = String(stored);
    const lineEnd = text.indexOf('\n');
    const { storedAtMs, status, headers } = storedEntry.parse(JSON.parse(text.slice(0, Math.max(0, lineEnd))));
    return { storedAtMs, status, headers: new Headers(headers), rawBody: text.slice(lineEnd + 1) };
  } catch {
    return undefined; // not ours
  }
}
