import { type Cancellation, type CancelSignal, SharedWork } from '../cancellation.ts';
import { withReadableErrors } from '../errors/thrown-value.ts';
import { ApiKey } from './api-key.ts';

/**
 * A key, or a function that returns it. The function is called again if the key cannot be used: after 401 or 403, with an
 * exhausted quota, or if Retry-After exceeds `maxRetryAfterMs`.
 */
export type ApiKeyOption = string | (() => string | Promise<string>);

/** The source of the key for the next request. It keeps the key until a caller requests a replacement. */
export class KeySource {
  readonly #provide: () => string | Promise<string>;
  readonly #onKey: (key: ApiKey) => void;
  /** The call of the provider in flight: one, even for a hundred calls that are refused together. */
  readonly #loading = new SharedWork<ApiKey>();
  #key: ApiKey | undefined;

  /** Calls `onKey` with each new key. @throws ConfigError if a fixed key is invalid */
  constructor(option: ApiKeyOption, onKey: (key: ApiKey) => void) {
    this.#provide = typeof option === 'function' ? option : () => option;
    this.#onKey = onKey;
    if (typeof option !== 'function') this.#use(ApiKey.from(option));
  }

  /** The key in use; calls the provider the first time. Rejects with the signal's reason as soon as that aborts. */
  current(signal: CancelSignal): ApiKey | Promise<ApiKey> {
    return this.#key ?? this.#loadOnce(signal);
  }

  /** The key in use; `undefined` before the first call of the provider. */
  known(): ApiKey | undefined {
    return this.#key;
  }

  /** The key to use instead of `refused`; `undefined` if there is no other. */
  async replacementFor(refused: ApiKey, signal: CancelSignal): Promise<ApiKey | undefined> {
    const already = this.#key;
    const key = already !== undefined && already.hash !== refused.hash ? already : await this.#loadOnce(signal);
    return key.hash === refused.hash ? undefined : key;
  }

  #loadOnce(signal: CancelSignal): Promise<ApiKey> {
    return this.#loading.join((cancellation) => this.#load(cancellation), signal);
  }

  async #load(cancellation: Cancellation): Promise<ApiKey> {
    const key = ApiKey.from(await withReadableErrors(() => this.#provide()));
    // The load was aborted and no call waits for it. A later call of the provider may have returned a newer key.
    if (!cancellation.aborted) this.#use(key);
    return key;
  }

  #use(key: ApiKey): void {
    if (key.hash !== this.#key?.hash) this.#onKey(key);
    this.#key = key;
  }
}
