/** Removes the digits of API keys, for texts that can contain a key by mistake, such as a path or an option. */
export function redactKeys(text: string): string {
  return looksLikeKey(text) ? text.replace(KEY_DIGITS, '_live_…') : text;
}

/** Whether the text can contain a key, also a URL-encoded one. */
function looksLikeKey(text: string): boolean {
  // The expression alone takes longer than the journal entry of a long body.
  return text.includes('_live_') || (text.includes('%') && /%5flive|live%5f/i.test(text));
}

const KEY_DIGITS = /(?:_|%5f)live(?:_|%5f)[0-9a-f]+/gi;

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
