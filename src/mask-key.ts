/** `fx_live_…9c2d` for a key: enough to distinguish keys, useless for a request. A short text is masked completely. */
export function maskKey(secret: string): string {
  const prefix = /^[A-Za-z0-9]+_live_/.exec(secret)?.[0] ?? '';
  const rest = secret.slice(prefix.length);
  return rest.length >= SHOWS_ITS_END_FROM ? `${prefix}…${rest.slice(-4)}` : '…';
}

/** Four characters could be most of a shorter text. */
const SHOWS_ITS_END_FROM = 16;

/** Only at the start of a word: a search from each of its characters would take minutes in a long one. */
const LIKE_A_KEY = /(?<![A-Za-z0-9])[A-Za-z0-9]+_live_[A-Za-z0-9]{12,}/g;

/** Masks everything in `text` that looks like a key, for values that can contain a key by mistake. */
export function maskKeysIn(text: string): string {
  return text.replace(LIKE_A_KEY, maskKey);
}
