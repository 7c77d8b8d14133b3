/** A shorter text shows nothing of itself: four characters of it could be most of it. */
const SHOWS_ITS_END_FROM = 16;
const LIKE_A_KEY = /[A-Za-z0-9]+_live_[A-Za-z0-9]{12,}/g;

/** `fx_live_…9c2d` for a key: enough to tell keys apart, useless to anyone else. */
export function mask(secret: string): string {
  const prefix = /^[A-Za-z0-9]+_live_/.exec(secret)?.[0] ?? '';
  const rest = secret.slice(prefix.length);
  return rest.length >= SHOWS_ITS_END_FROM ? `${prefix}…${rest.slice(-4)}` : '…';
}

/** `text` with everything masked that looks like a key, for values that are no key but can have one put in by mistake. */
export function maskKeysIn(text: string): string {
  return text.replace(LIKE_A_KEY, mask);
}

/** Finds `secret` in text: as it is, URL-encoded (also twice, also as a form field), and as JSON and `inspect` escape it. */
export function patternOf(secret: string): RegExp {
  const escaped = secret.replace(/[^\w-]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `(?:%(?:25)*${hex}|\\\\u00${hex}|\\\\?\\x${hex})`;
  });
  return new RegExp(escaped, 'gi');
}
