/** `fx_live_…9c2d` for a key: enough to distinguish keys, useless for a request. A short text is masked completely. */
export function maskKey(secret: string): string {
  const prefix = /^[A-Za-z0-9]+_live_/.exec(secret)?.[0] ?? '';
  const rest = secret.slice(prefix.length);
  return rest.length >= SHOWS_ITS_END_FROM ? `${prefix}…${rest.slice(-4)}` : '…';
}

/** Four characters could be most of a shorter text. */
const SHOWS_ITS_END_FROM = 16;
