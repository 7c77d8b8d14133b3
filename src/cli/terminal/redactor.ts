import { maskKey } from '../../text.ts';

/** A shorter text is no key, and masking it could mask parts of words. */
const SHORTEST_KEY = 8;
/** A key of the documented form, also as a URL may write it. */
const KEY = /(_|%5f)live(?:_|%5f)[0-9a-f]{44}([0-9a-f]{4})/gi;
/** Whether a text has a key of the documented form in it. */
export function holdsKey(text: string): boolean {
  return text.search(KEY) !== -1;
}

/** Text that looks like a key or a part of one. It can be in a URL, the name of a file or a number by mistake. */
const KEY_LIKE = /(_|%5f)live(?:_|%5f)[a-z0-9]{12,}([a-z0-9]{4})/gi;

/** Removes keys from texts, as the last step before output. */
export class Redactor {
  readonly #masks = new Map<string, string>();

  /** From now on `secret` appears as its mask: in plain, in JSON, URL-encoded and in base64. */
  protect(secret: string): void {
    if (secret.length < SHORTEST_KEY) return;
    const mask = maskKey(secret);
    for (const form of formsOf(secret)) this.#masks.set(form, mask);
  }

  /** Data: unchanged except for keys. */
  redact(text: string): string {
    return this.#withoutSecrets(text).replace(KEY, MASK);
  }

  /** For messages of the command line, which can contain input: masks everything that looks like a key. */
  redactMessage(text: string): string {
    return this.#withoutSecrets(text).replace(KEY_LIKE, MASK);
  }

  /** Returns the same bytes if they contain no secret, so that a body is unchanged. */
  redactBytes(bytes: Uint8Array): Uint8Array {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    const redacted = this.redact(text);
    return redacted === text ? bytes : Buffer.from(redacted);
  }

  #withoutSecrets(text: string): string {
    let redacted = text;
    for (const [form, mask] of this.#masks) redacted = redacted.replaceAll(form, () => mask);
    return redacted;
  }
}

const MASK = '$1live_…$2';

function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  const lowerCase = encoded.replace(/%../g, (octet) => octet.toLowerCase());
  return [secret, JSON.stringify(secret).slice(1, -1), encoded, lowerCase, Buffer.from(secret).toString('base64')];
}
