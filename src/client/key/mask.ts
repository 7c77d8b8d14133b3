import { maskKey } from '../../mask-key.ts';

/** Only at the start of a word: a search from each of its characters would take minutes in a long one. */
const LIKE_A_KEY = /(?<![A-Za-z0-9])[A-Za-z0-9]+_live_[A-Za-z0-9]{12,}/g;

/** Masks everything in `text` that looks like a key, for values that can contain a key by mistake. */
export function maskKeysIn(text: string): string {
  return text.replace(LIKE_A_KEY, maskKey);
}

/**
 * Finds `secret` in text: as it is, URL-encoded (also twice, also as a form field), as JSON and `inspect` escape it, and in
 * base64, alone or within a longer text (as in `Authorization: Basic`).
 */
export function patternOf(secret: string): RegExp {
  const escaped = secret.replace(/[^\w-]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `(?:%(?:25)*${hex}|\\\\u00${hex}|\\\\?\\x${hex})`;
  });
  return new RegExp([escaped, ...base64PatternsOf(secret)].join('|'), 'gi');
}

/** A shorter text in base64 could match by chance. */
const SHORTEST_BASE64 = 16;

/** Three bytes are four characters, so there are three forms of a text, depending on how many bytes are before it. */
function base64PatternsOf(secret: string): string[] {
  const forms = [0, 1, 2].map((before) => {
    const bytes = Buffer.from('\0'.repeat(before) + secret);
    const bits = 8 * bytes.length;
    // Without the characters that depend on neighbouring bytes.
    return bytes.toString('base64').slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
  });
  const found = forms.filter((form) => form.length >= SHORTEST_BASE64);
  return found.map((form) => form.replaceAll('+', '[+-]').replaceAll('/', '[/_]'));
}
