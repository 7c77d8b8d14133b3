/** An answer as it is stored: the exact text, so that no digit changes on the way through a store. */
export interface CacheEntry {
  /** Epoch milliseconds at which the answer arrived. */
  readonly storedAtMs: number;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly rawBody: string;
}

const VERSION = 1;

export function encodeEntry(entry: CacheEntry): string {
  return JSON.stringify({ version: VERSION, ...entry });
}

/** `undefined` for anything else than what `encodeEntry` made: a store is shared, and may hold what others left. */
export function decodeEntry(stored: unknown): CacheEntry | undefined {
  if (typeof stored !== 'string') return undefined;
  let entry: Partial<CacheEntry & { readonly version: number }>;
  try {
    entry = JSON.parse(stored);
  } catch {
    return undefined; // not ours
  }
  const isWhole =
    entry?.version === VERSION &&
    typeof entry.storedAtMs === 'number' &&
    typeof entry.status === 'number' &&
    typeof entry.rawBody === 'string' &&
    Array.isArray(entry.headers);
  return isWhole ? (entry as CacheEntry) : undefined;
}
