/** Where answers are kept: any Keyv instance fits, and so does a Map-like of your own. */
export interface CacheStore {
  get(key: string): unknown | Promise<unknown>;
  /** `ttlMs`: the entry may be forgotten after this many milliseconds. */
  set(key: string, value: string, ttlMs: number): unknown | Promise<unknown>;
}
