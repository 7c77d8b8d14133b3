import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { SAVED_LIMIT_VERSION } from '../saved-limit.ts';
import { WINDOW_MS } from '../window.ts';
import { answerWithin } from './answer-within.ts';
import type { Draft } from './draft.ts';
import type { LimitOffer, LimitStore } from './limit-store.ts';
import { parseSharedState, type SharedState } from './shared-state.ts';
import { SharedTime } from './shared-time.ts';

/** A store that takes longer is as good as none: calls must not hang on it. */
const STORE_TIMEOUT_MS = 250;
/** Against a store that refuses every write; among processes that write at the same time, one always succeeds. */
const TRIES_AT_MOST = 100;
const KEEP_MS = 10 * WINDOW_MS;
/** A state this much younger than the store's clock was written before that clock was set back. */
const FUTURE_MS = 5_000;

export interface AgreementOptions {
  readonly store: LimitStore;
  /** What the processes must agree on to share: origin and key hash. */
  readonly name: string;
  readonly clock: Clock;
  /** The limiter's own time. */
  readonly now: () => number;
}

/** One process's part in the state that all share. */
export class Agreement {
  /** The name of this process among those that share. */
  readonly id = randomUUID();
  readonly time = new SharedTime();
  readonly #options: AgreementOptions;
  readonly #name: string;
  #version = '';
  #state: SharedState | undefined;
  #writes = 0;
  #attempt = 0;

  constructor(options: AgreementOptions) {
    this.#options = options;
    this.#name = `${SAVED_LIMIT_VERSION}:${options.name}`;
  }

  /** What all knew at the last exchange. */
  get state(): SharedState | undefined {
    return this.#state;
  }

  /** The store's time. */
  now(): number {
    return this.time.fromLocal(this.#options.now());
  }

  /**
   * Brings a draft into the store, made anew whenever others wrote meanwhile; one that has nothing to write just has to
   * know what others wrote. Rejects if the store fails or takes too long.
   */
  async reach(createDraft: () => Draft): Promise<Draft> {
    this.#attempt += 1;
    try {
      return await answerWithin(this.#options.clock, STORE_TIMEOUT_MS, this.#negotiate(this.#attempt, createDraft));
    } finally {
      this.#attempt += 1; // an answer that comes later comes too late
    }
  }

  async #negotiate(attempt: number, createDraft: () => Draft): Promise<Draft> {
    for (let tries = 0; tries < TRIES_AT_MOST && attempt === this.#attempt; tries += 1) {
      const draft = createDraft();
      const isDone = draft.isNews ? await this.#write(attempt, draft) : tries > 0;
      if (isDone) return draft;
      if (!draft.isNews) await this.#exchange(attempt);
    }
    throw new Error(`none of ${TRIES_AT_MOST} writes was accepted`);
  }

  async #write(attempt: number, { state }: Draft): Promise<boolean> {
    this.#writes += 1;
    const version = `${this.id}:${this.#writes}`;
    const text = JSON.stringify(state);
    const offer = { version, state: text, nowMs: state.at, keepMs: KEEP_MS };
    const isWritten = await this.#exchange(attempt, offer);
    if (isWritten) this.#state = state;
    return isWritten;
  }

  async #exchange(attempt: number, offer?: LimitOffer): Promise<boolean> {
    const { store, now } = this.#options;
    const { isWritten, version, state, nowMs } = await store.exchange(this.#name, this.#version, offer);
    if (attempt !== this.#attempt) return false;
    this.time.observe(nowMs, now());
    if (!isWritten && version !== this.#version) this.#state = stateOf(state, nowMs);
    this.#version = version;
    return isWritten;
  }
}

/** `undefined` for a state that cannot be used: better to learn anew than to wait for an hour to come round again. */
function stateOf(text: string, nowMs: number): SharedState | undefined {
  const state = parseSharedState(text);
  return state && state.at <= nowMs + FUTURE_MS ? state : undefined;
}
