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
  rawBody: z.string(),
});

export function encodeEntry({ headers, ...entry }: CacheEntry): string {
  return JSON.stringify({ version: VERSION, ...entry, headers: [...headers] });
}

/** `undefined` for anything else than what `encodeEntry` made: a store is shared, and may hold what others left. */
export function decodeEntry(stored: unknown): CacheEntry | undefined {
  try {
    const { storedAtMs, status, headers, rawBody } = storedEntry.parse(JSON.parse(String(stored)));
    return { storedAtMs, status, headers: new Headers(headers), rawBody };
  } catch {
    return undefined; // not ours
  }
}
