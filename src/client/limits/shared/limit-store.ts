/**
 * A store through which several processes share the limit of a key. `fxrates/file-store` has one for a folder,
 * `fxrates/redis` one for Redis. A custom store needs one atomic operation: compare the version and write.
 */
export interface LimitStore {
  /**
   * Writes `offer` if the stored version is `known` (`''` if nothing is stored) and `offer.nowMs` is within one second of the
   * store's clock. Without `offer`, it only reads. If it rejects, takes longer than one second, or is too slow for a deadline,
   * the client limits itself without the store until the store responds again.
   */
  exchange(name: string, known: string, offer?: LimitOffer): Promise<LimitExchange>;
}

/** A state to write to a `LimitStore`. */
export interface LimitOffer {
  /** The new version. No two versions are equal. */
  readonly version: string;
  /** The new state, as text. */
  readonly state: string;
  /** The writer's estimate of the store's time, in milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** Milliseconds after the last write after which the store may delete the state. */
  readonly keepMs: number;
}

/** The result of an exchange with a `LimitStore`. */
export interface LimitExchange {
  /** Whether the offer was written. */
  readonly isWritten: boolean;
  /** The version that is stored now; `''` if nothing is stored. */
  readonly version: string;
  /** The state of that version; `''` is allowed if the version is `known`. */
  readonly state: string;
  /** The store's own clock, in milliseconds since the Unix epoch. */
  readonly nowMs: number;
}
