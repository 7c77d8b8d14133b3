/**
 * Where processes that use one key keep what they have learned of its limit: `fxrates/file-store` has one for a folder,
 * `fxrates/redis` one for Redis. A store of your own needs one atomic step: compare the version, and write.
 */
export interface LimitStore {
  /**
   * Writes `offer` (with none it just reads) if `known` is the version that the store holds, `''` where it holds
   * nothing, and if `offer.nowMs` is within a second of the store's own clock. If it rejects or takes longer than
   * 250 ms (1 s if the store is always slow), the client continues alone until the store answers again.
   */
  exchange(name: string, known: string, offer?: LimitOffer): Promise<LimitExchange>;
}

export interface LimitOffer {
  readonly version: string;
  readonly state: string;
  /** The writer's estimate of the store's time. Milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** Milliseconds after the last write after which the store may forget the state. */
  readonly keepMs: number;
}

export interface LimitExchange {
  readonly isWritten: boolean;
  /** What the store holds now; `''` for nothing. */
  readonly version: string;
  /** The state of that version; may be left out if the caller knows it. */
  readonly state: string;
  /** The store's own clock, in milliseconds since the Unix epoch. */
  readonly nowMs: number;
}
