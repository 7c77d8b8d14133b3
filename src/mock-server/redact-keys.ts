/** Removes the digits of API keys, for texts that can contain a key by mistake, such as a path or an option. */
export function redactKeys(text: string): string {
  const plain = asciiDecoded(text);
  // The expression alone takes longer than the journal entry of a long body.
  return plain.includes('_live_') ? plain.replace(KEY_DIGITS, '_live_…') : text;
}

const KEY_DIGITS = /_live_[0-9a-f]+/gi;

/** The text with its percent-encoded ASCII characters decoded. Unlike decodeURIComponent, it accepts a stray `%`. */
function asciiDecoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The values of the documented parameter. Its name can be percent-encoded, as in `api%5Fkey`. */
export function keysInQuery(query: string): readonly string[] {
  return MAY_HAVE_KEY.test(query) ? new URLSearchParams(query).getAll('api_key') : [];
}

/** A fast check: `api_key`, or one of its characters percent-encoded. */
const MAY_HAVE_KEY = /api_key|%(?:61|70|69|5f|6b|65|79)/i;

/** Whether a target contains an API key: in the documented parameter, or a text of the same form anywhere else. */
export function hasKeyInUrl(target: string, query: string): boolean {
  return asciiDecoded(target).includes('_live_') || keysInQuery(query).some((key) => key !== '');
}
