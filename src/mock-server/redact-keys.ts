/** The text without the digits of any API key that came to the wrong place, a path or an option. */
export function redactKeys(text: string): string {
  return text.includes('_live_') ? text.replace(KEY_DIGITS, '_live_…') : text;
}

const KEY_DIGITS = /_live_[0-9a-f]+/gi;
