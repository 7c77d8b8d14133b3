/** Removes the digits of API keys, for texts that can contain a key by mistake, such as a path or an option. */
export function redactKeys(text: string): string {
  // The expression alone takes longer than the journal entry of a long body.
  if (!looksLikeKey(text)) return text;
  return (text.includes('%') ? decoded(text) : text).replace(KEY_DIGITS, '_live_…');
}

/** Whether the text can contain a key, also a percent-encoded one. */
function looksLikeKey(text: string): boolean {
  return text.includes('_live_') || (text.includes('%') && decoded(text).includes('_live_'));
}

const KEY_DIGITS = /_live_[0-9a-f]+/gi;

/** The text with its percent-encoded characters of ASCII decoded. */
function decoded(text: string): string {
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
  return looksLikeKey(target) || keysInQuery(query).some((key) => key !== '');
}
