/** A shorter text is no key, and hiding it would riddle every output. */
const SHORTEST_KEY = 8;

/** Takes keys out of texts; the last step before anything is written. */
export class Redactor {
  readonly #masks = new Map<string, string>();

  /** From now on `secret` appears as its mask, in plain, URL-encoded and base64 form. */
  protect(secret: string): void {
    if (secret.length < SHORTEST_KEY) return;
    const mask = maskKey(secret);
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
      this.#masks.set(form, mask);
    }
  }

  redact(text: string): string {
    let redacted = text;
    for (const [form, mask] of this.#masks) redacted = redacted.replaceAll(form, mask);
    return redacted;
  }

  /** The same bytes when there is no secret in them, so that a body stays what it was. */
  redactBytes(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const isClean = [...this.#masks.keys()].every((form) => !buffer.includes(form));
    return isClean ? bytes : Buffer.from(this.redact(buffer.toString()));
  }
}

/** `fx_live_…9c2d`: enough to tell keys apart, useless to anyone else. A short text shows nothing of itself. */
export function maskKey(secret: string): string {
  const prefix = /^[A-Za-z0-9]+_live_/.exec(secret)?.[0] ?? '';
  const rest = secret.slice(prefix.length);
  return rest.length >= 16 ? `${prefix}…${rest.slice(-4)}` : '…';
}
