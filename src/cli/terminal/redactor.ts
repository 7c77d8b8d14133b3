/** A shorter text is no key, and hiding it would riddle every output. */
const SHORTEST_KEY = 8;
/** What looks like a key is taken for one: it may have come to the wrong place, as a URL, a file, or a number. */
const KEY_LIKE = /_live_[A-Za-z0-9]{12,}([A-Za-z0-9]{4})/g;

/** Takes keys out of texts; the last step before anything is written. */
export class Redactor {
  readonly #masks = new Map<string, string>();

  /** From now on `secret` appears as its mask: in plain, in JSON, URL-encoded and in base64. */
  protect(secret: string): void {
    if (secret.length < SHORTEST_KEY) return;
    const mask = maskKey(secret);
    for (const form of formsOf(secret)) this.#masks.set(form, mask);
  }

  redact(text: string): string {
    let redacted = text;
    for (const [form, mask] of this.#masks) redacted = redacted.replaceAll(form, mask);
    return redacted.replace(KEY_LIKE, '_live_…$1');
  }

  /** The same bytes when there is no secret in them, so that a body stays what it was. */
  redactBytes(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const isClean = [...this.#masks.keys()].every((form) => !buffer.includes(form));
    return isClean ? bytes : Buffer.from(this.redact(buffer.toString()));
  }
}

function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  const lowerCase = encoded.replace(/%../g, (octet) => octet.toLowerCase());
  return [secret, JSON.stringify(secret).slice(1, -1), encoded, lowerCase, Buffer.from(secret).toString('base64')];
}

/** `fx_live_…9c2d`: enough to tell keys apart, useless to anyone else. A short text shows nothing of itself. */
export function maskKey(secret: string): string {
  const prefix = /^[A-Za-z0-9]+_live_/.exec(secret)?.[0] ?? '';
  const rest = secret.slice(prefix.length);
  return rest.length >= 16 ? `${prefix}…${rest.slice(-4)}` : '…';
}
