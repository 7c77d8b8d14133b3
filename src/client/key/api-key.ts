import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { apiKeyPattern } from '../../generated/service.ts';
import { keyProblem, maskKey, secretRedactor } from '../../redactor.ts';
import { ConfigError, TimeoutError } from '../errors/errors.ts';
import { rethrowForeign } from '../errors/program-values.ts';
import { abortable, type Cancellation, SharedWork } from '../time/abort.ts';
import type { SteadyTime } from '../time/clock.ts';

const DOCUMENTED_FORM = new RegExp(apiKeyPattern);

/** An API key that cannot be printed by accident: `inspect`, JSON and templates print its mask. */
export class ApiKey {
  readonly #secret: string;
  /** `fx_live_…9c2d`: enough to distinguish keys, useless for a request. */
  readonly masked: string;
  /** `text` without the key, however it is encoded. */
  readonly redact: (text: string) => string;
  /** SHA-256 of the key in hex: the name of the state that calls with this key share. */
  readonly hash: string;
  /** Whether it has the documented form: a prefix that ends with `_live_`, then 48 hexadecimal digits. */
  readonly hasDocumentedForm: boolean;

  private constructor(secret: string) {
    this.#secret = secret;
    this.redact = secretRedactor(secret);
    this.masked = maskKey(secret);
    this.hash = createHash('sha256').update(secret).digest('hex');
    this.hasDocumentedForm = DOCUMENTED_FORM.test(secret);
  }

  /** Validates a key. @throws ConfigError that does not contain the key. `name`: that of the option or the variable. */
  static from(value: unknown, name = 'apiKey'): ApiKey {
    const problem = problemOf(value);
    if (problem !== undefined) throw new ConfigError(`${name}: ${problem}`);
    return new ApiKey(String(value));
  }

  /** The key itself, for the one place that puts it into a request. */
  reveal(): string {
    return this.#secret;
  }

  toString(): string {
    return this.masked;
  }

  toJSON(): string {
    return this.masked;
  }

  /** @internal A type from `node:util` would require `@types/node` of every program. */
  [inspect.custom](): string {
    return this.masked;
  }
}

function problemOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return `expected a string or a function that returns one, got ${typeof value}`;
  return value === '' ? 'the key from the function is empty; check where the function reads it' : keyProblem(value);
}

/**
 * A key, or a function that returns it. The function is called again if the key cannot be used: after 401 or 403, with an
 * exhausted quota, or if Retry-After exceeds `maxRetryAfterMs`.
 */
export type ApiKeyOption = string | (() => string | Promise<string>);

/** The time limit of one call of the function. */
interface CallLimit {
  readonly time: SteadyTime;
  readonly timeoutMs: number;
}

/** The source of the key for the next request. It keeps the key until a caller requests a replacement. */
export class KeySource {
  /** The waits that end when another key replaces the one in use. */
  readonly waits = new Set<Cancellation>();
  readonly #provide: () => string | Promise<string>;
  readonly #limit: CallLimit;
  readonly #onKey: (key: ApiKey) => void;
  /** The call of the provider in flight: one, even for a hundred calls that are refused together. */
  readonly #loading = new SharedWork<ApiKey>();
  #key: ApiKey | undefined;

  /** Calls `onKey` with each new key of the provider. @throws ConfigError if a fixed key is invalid */
  constructor(option: ApiKeyOption, limit: CallLimit, onKey: (key: ApiKey) => void) {
    this.#provide = typeof option === 'function' ? option : () => option;
    this.#limit = limit;
    this.#onKey = onKey;
    if (typeof option !== 'function') this.#key = ApiKey.from(option);
  }

  /** The key in use; `undefined` before the first call of the provider. */
  known(): ApiKey | undefined {
    return this.#key;
  }

  /** The key to use instead of `refused`; `undefined` if there is no other. */
  async replacementFor(refused: ApiKey, signal: Cancellation): Promise<ApiKey | undefined> {
    const already = this.#key;
    const key = already !== undefined && already.hash !== refused.hash ? already : await this.load(signal);
    return key.hash === refused.hash ? undefined : key;
  }

  /** Calls the provider. Rejects with the signal's reason as soon as that aborts. */
  load(signal: Cancellation): Promise<ApiKey> {
    return this.#loading.join((cancellation) => this.#load(cancellation), signal);
  }

  /** An aborted load rejects: a later call of the provider may have returned a newer key. */
  async #load(signal: Cancellation): Promise<ApiKey> {
    const { time, timeoutMs: limitMs } = this.#limit;
    const message = `apiKey: the function did not return a key within ${limitMs} ms (timeoutMs)`;
    const secret = await time.withTimeout(
      (late) => abortable((async () => this.#provide())().catch(rethrowForeign), late),
      {
        afterMs: limitMs,
        signal,
        errorOf: () => new TimeoutError({ message, scope: 'attempt', limitMs }),
      },
    );
    const key = ApiKey.from(secret);
    this.#use(key);
    return key;
  }

  #use(key: ApiKey): void {
    const isNew = key.hash !== this.#key?.hash;
    this.#key = key;
    if (!isNew) return;
    this.#onKey(key);
    for (const wait of this.waits) wait.cancel(undefined);
  }
}
