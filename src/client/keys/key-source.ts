import type { Cancellation, CancelSignal } from '../cancellation.ts';
import { SharedWork } from '../cancellation.ts';
import { ApiKey } from './api-key.ts';

/** A key, or a function that returns it. The function is called again if the service refuses the key. */
export type ApiKeyOption = string | (() => string | Promise<string>);

/** The source of the key for the next request. */
export interface KeySource {
  /** The key in use; calls the provider the first time. Rejects with the signal's reason as soon as that aborts. */
  current(signal: CancelSignal): ApiKey | Promise<ApiKey>;
  /** The key to use instead of `refused`; `undefined` if there is no other. */
  replacementFor(refused: ApiKey, signal: CancelSignal): Promise<ApiKey | undefined>;
  /** The key in use; `undefined` before the first call of the provider. */
  known(): ApiKey | undefined;
}

/** A source that keeps the key until the service refuses it; calls `onKey` with each new key. */
export function createKeySource(option: ApiKeyOption, onKey: (key: ApiKey) => void): KeySource {
  return typeof option === 'function' ? new ProvidedKey(option, onKey) : new FixedKey(option, onKey);
}

class FixedKey implements KeySource {
  readonly #key: ApiKey;

  constructor(secret: string, onKey: (key: ApiKey) => void) {
    this.#key = ApiKey.from(secret);
    onKey(this.#key);
  }

  current(): ApiKey {
    return this.#key;
  }

  known(): ApiKey {
    return this.#key;
  }

  async replacementFor(): Promise<undefined> {
    return undefined;
  }
}

class ProvidedKey implements KeySource {
  readonly #provide: () => string | Promise<string>;
  readonly #onKey: (key: ApiKey) => void;
  /** One call of the provider at a time, also for a hundred calls refused together. */
  readonly #asking = new SharedWork<ApiKey>();
  #key: ApiKey | undefined;

  constructor(provide: () => string | Promise<string>, onKey: (key: ApiKey) => void) {
    this.#provide = provide;
    this.#onKey = onKey;
  }

  current(signal: CancelSignal): ApiKey | Promise<ApiKey> {
    return this.#key ?? this.#ask(signal);
  }

  known(): ApiKey | undefined {
    return this.#key;
  }

  async replacementFor(refused: ApiKey, signal: CancelSignal): Promise<ApiKey | undefined> {
    const already = this.#key;
    const key = already !== undefined && already.hash !== refused.hash ? already : await this.#ask(signal);
    return key.hash === refused.hash ? undefined : key;
  }

  #ask(signal: CancelSignal): Promise<ApiKey> {
    return this.#asking.join((question) => this.#load(question), signal);
  }

  async #load(question: Cancellation): Promise<ApiKey> {
    const key = ApiKey.from(await this.#provide());
    if (question.aborted) return key; // no call waits for it, and a later call of the provider may have returned a newer key
    if (key.hash !== this.#key?.hash) this.#onKey(key);
    this.#key = key;
    return key;
  }
}
