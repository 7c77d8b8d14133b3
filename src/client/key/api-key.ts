import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { apiKeyPattern } from '../../generated/service.ts';
import { maskKey } from '../../mask-key.ts';
import { ConfigError } from '../errors/errors.ts';
import { patternOf } from './mask.ts';

const DOCUMENTED_FORM = new RegExp(apiKeyPattern);
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/** An API key that cannot be printed by accident: `inspect`, JSON and templates print its mask. */
export class ApiKey {
  readonly #secret: string;
  readonly #pattern: RegExp;
  /** `fx_live_…9c2d`: enough to distinguish keys, useless for a request. */
  readonly masked: string;
  /** SHA-256 of the key in hex: the name of the state that calls with this key share. */
  readonly hash: string;
  /** Whether it has the documented form (docs/facts.md, API key). */
  readonly hasDocumentedForm: boolean;

  private constructor(secret: string) {
    this.#secret = secret;
    this.#pattern = patternOf(secret);
    this.masked = maskKey(secret);
    this.hash = createHash('sha256').update(secret).digest('hex');
    this.hasDocumentedForm = DOCUMENTED_FORM.test(secret);
  }

  /** Validates a key. @throws ConfigError that does not contain the key */
  static from(value: unknown): ApiKey {
    const problem = problemOf(value);
    if (problem !== undefined) throw new ConfigError(`apiKey: ${problem}`);
    return new ApiKey(String(value));
  }

  /** The key itself, for the one place that puts it into a request. */
  reveal(): string {
    return this.#secret;
  }

  /** `text` without the key, however it is escaped. */
  redact(text: string): string {
    return text.replace(this.#pattern, () => this.masked);
  }

  toString(): string {
    return this.masked;
  }

  toJSON(): string {
    return this.masked;
  }

  [inspect.custom](): string {
    return this.masked;
  }
}

function problemOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return `expected a string or a function that returns one, got ${typeof value}`;
  if (value === '') return 'is empty; set FXRATES_API_KEY or pass apiKey';
  if (/^bearer\s/i.test(value)) {
    return "starts with 'Bearer '; pass only the key, the client adds the scheme";
  }
  if (/^(['"]).*\1$/.test(value))
    return 'is in quotes, which some programs do not remove from the values of an env file; pass it without them';
  if (/^\s|\s$/.test(value)) return 'starts or ends with white space, such as the line break of a file; remove it';
  if (!HEADER_SAFE.test(value))
    return 'contains characters that are not valid in a key (white space, control or non-ASCII characters)';
  return undefined;
}
