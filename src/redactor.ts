/** Keys in text: how they are masked and found. The only module that knows how a key can be encoded. */

/** `fx_live_…9c2d` for a key: enough to distinguish keys, useless for a request. A short text is masked completely. */
export function maskKey(secret: string): string {
  const [prefix, rest] = partsOf(secret);
  return rest.length >= SHOWS_ITS_END_FROM ? `${prefix}…${rest.slice(-4)}` : '…';
}

/** Four characters could be most of a shorter text. */
const SHOWS_ITS_END_FROM = 16;

/** A key without its prefix is as secret. */
function partsOf(secret: string): [prefix: string, rest: string] {
  const prefix = /^[\w-]+_live_/.exec(secret)?.[0] ?? '';
  return [prefix, secret.slice(prefix.length)];
}

/** What is before the hexadecimal code of a character: in a URL (also encoded twice), in JSON and code. In mail, it is `=`. */
const BEFORE_CODE = String.raw`%(?:25){0,4}|\\{1,8}(?:u00|x)`;
/** The same if the code has an end: in code and HTML. */
const BEFORE_CLOSED_CODE = String.raw`\\{1,8}u\{0{0,4}|&#x0{0,6}`;
const BEFORE_ANY_CODE = `(?:${BEFORE_CODE}|${BEFORE_CLOSED_CODE}|=)`;
const AFTER_CODE = '[;}]?';
const BY_HTML_NAME: Readonly<Record<string, string>> = {
  ...{ lowbar: '_', amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' },
  ...{ plus: '+', sol: '/', equals: '=', percnt: '%', bsol: '\\', hyphen: '-' },
};

/** A text of letters and underscores in any encoding. Repetitions have a limit, so that no text takes long. */
function encodingsOf(text: string): string {
  const forms = [...text].map((character) => {
    const name = character === '_' ? '|&lowbar;' : '';
    const coded = `${BEFORE_ANY_CODE}${hexOf(character)}${AFTER_CODE}|&#0{0,6}${character.charCodeAt(0)};`;
    return `(?:${coded}${name}|${character})`;
  });
  return forms.join('');
}

/** Whether characters of a text are encoded. */
const HAS_ENCODED = /%[0-9a-f]|\\|&[#a-z]|=[0-9a-f]{2}/i;

/** Encoded characters and backslashes. */
const ENCODED = encodedAfter(BEFORE_CODE);
/** The same in mail. Apart, because elsewhere `api_key=` can be before a key that begins like a code. */
const ENCODED_IN_MAIL = encodedAfter(`${BEFORE_CODE}|=`);

function encodedAfter(before: string): RegExp {
  const hex = `(?:${before})([2-7][0-9a-f])|(?:${BEFORE_CLOSED_CODE})([2-7][0-9a-f])${AFTER_CODE}`;
  const names = Object.keys(BY_HTML_NAME).join('|');
  return new RegExp(`${hex}|&#0{0,6}(\\d{2,3});|&(${names});|\\\\+`, 'gi');
}

/** A text can be encoded several times, such as JSON in a URL. */
const MOST_LEVELS = 5;

/**
 * The characters of a text, however they are encoded, without backslashes: how many are before a character depends on how
 * often it was encoded. A key that itself has codes is found because it is decoded as well.
 */
function decoded(text: string, encoded = ENCODED, levels = MOST_LEVELS): string {
  const once = text.replace(encoded, characterOf);
  return once === text || levels === 1 ? once : decoded(once, ENCODED, levels - 1);
}

/** The parameters are those of `encodedAfter`. */
function characterOf(_: string, bare?: string, hex = bare, decimal = '', name = ''): string {
  const code = hex === undefined ? Number(decimal || Number.NaN) : Number.parseInt(hex, 16);
  return BY_HTML_NAME[name.toLowerCase()] ?? (Number.isNaN(code) ? '' : String.fromCharCode(code));
}

/** A shorter text in base64 could match by chance. */
const SHORTEST_BASE64 = 16;

/** A shorter text is no key of the service, but may be that of a test, and a part of many words. */
const SHORTEST_KEY = 8;
/**
 * A function that masks `secret` in a text: as it is or encoded, in hexadecimal, and in base64, alone or within a longer
 * text (as in `Authorization: Basic`). `secret` is a text without a `keyProblem`.
 */
export function secretRedactor(secret: string): (text: string) => string {
  if (secret.length < SHORTEST_KEY) return (text) => text;
  const mask = maskKey(secret);
  // Created for the first text: a client that is created for each request seldom has one.
  let patterns: ReturnType<typeof patternsOf> | undefined;
  return (text) => {
    patterns ??= patternsOf(secret);
    const { simple, word, inDecoded } = patterns;
    const masked = text.replace(simple, () => mask);
    if (!HAS_ENCODED.test(masked)) return masked;
    const holds = (found: string) =>
      [ENCODED, ENCODED_IN_MAIL].some((encoded) => inDecoded.test(decoded(found, encoded)));
    return masked.replace(word, (found) => (HAS_ENCODED.test(found) && holds(found) ? mask : found));
  };
}

/** An expression with all encodings of each character would take 12 ms and half a megabyte for each key. */
function patternsOf(secret: string) {
  const plain = decoded(secret);
  // White space ends a word, so the class has none.
  const part = `[\\w%\\\\&#;={}${escaped(plain.replace(/\s/g, ''))}]`;
  return {
    simple: new RegExp([plainPatternOf(secret), hexOf(secret), ...base64PatternsOf(secret)].join('|'), 'gi'),
    /** What can be the key with encoded characters, and is masked completely if it is. */
    word: new RegExp(`${part}{${Math.max(1, partsOf(plain)[1].length)}}${part}*`, 'gi'),
    inDecoded: new RegExp(plainPatternOf(plain), 'i'),
  };
}

/** Without characters, such as of a key of backslashes, it finds nothing. */
function plainPatternOf(secret: string): string {
  if (secret === '') return '(?!)';
  const [prefix, rest] = partsOf(secret);
  const isLong = prefix !== '' && rest.length >= SHOWS_ITS_END_FROM;
  return isLong ? `(?:${prefix})?${escaped(rest)}` : escaped(secret);
}

function escaped(text: string): string {
  return text.replace(/\W/g, (character) => `\\x${hexOf(character)}`);
}

function hexOf(text: string): string {
  return [...text].map((character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

/** Three bytes are four characters, so there are three forms of a text, depending on how many bytes are before it. */
function base64PatternsOf(secret: string): string[] {
  const forms = [0, 1, 2].map((before) => {
    const text = '\0'.repeat(before) + secret;
    // Without the characters that depend on neighbouring bytes.
    return btoa(text).slice(Math.ceil((8 * before) / 6), Math.floor((8 * text.length) / 6));
  });
  const found = forms.filter((form) => form.length >= SHORTEST_BASE64);
  return found.map((form) => form.replaceAll('+', '[+-]').replaceAll('/', '[/_]'));
}

const MIDDLE = `(${encodingsOf('_')})${encodingsOf('live_')}`;
const DIGIT = `(?:[0-9a-f]|${BEFORE_ANY_CODE}(?:3\\d|[46][1-6])${AFTER_CODE})`;
const DOCUMENTED = new RegExp(`${MIDDLE}${DIGIT}{44}(${DIGIT}{4})`, 'gi');
const LIKE_A_KEY = new RegExp(`${MIDDLE}([a-z0-9]{12,})`, 'gi');
const DIGITS_OF_A_KEY = new RegExp(`${MIDDLE}${DIGIT}+`, 'gi');

const NOT_A_KEY: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [/^$/, 'is empty'],
  [/^\s+$/, 'has only white space'],
  [/\0/, 'is UTF-16; save it as UTF-8'], // which PowerShell 5 writes
  [/^.{4097}/s, 'has more than 4096 characters'],
  [/^bearer\s/i, "starts with 'Bearer '; pass only the key, without this word"],
  [/^(?:export )?\w*KEY=/i, 'is a line of an env file; pass only the part after the ='],
  [
    /^(['"]).*\1$/,
    'is in quotes, which some programs do not remove from the values of an env file; pass it without them',
  ],
  [/^\s|\s$/, 'starts or ends with white space, such as the line break of a file; remove it'],
  [/\n/, 'has several lines; pass only the key'],
  [/[^\x21-\x7e]/, 'contains characters that are not valid in a key (white space, control or non-ASCII characters)'],
];

/** Why `text` cannot be a key, without the text; `undefined` if it can. */
export function keyProblem(text: string): string | undefined {
  return NOT_A_KEY.find(([pattern]) => pattern.test(text))?.[1];
}

const PLAIN_MIDDLE = /_live_/i;

/** Whether a text can hold a key. Compiling an expression for keys takes as long as all options of a command. */
function mayHoldKey(text: string): boolean {
  return PLAIN_MIDDLE.test(text) || HAS_ENCODED.test(text);
}

/** Whether a text contains a key of the documented form. */
export function holdsKey(text: string): boolean {
  return mayHoldKey(text) && text.search(DOCUMENTED) !== -1;
}

/** Masks everything in `text` that looks like a key or a part of one: it can be in a URL, a path or a number by mistake. */
export function maskKeysIn(text: string): string {
  if (!mayHoldKey(text)) return text;
  return text.replace(LIKE_A_KEY, (_, underscore: string, rest: string) => `${underscore}live_${maskKey(rest)}`);
}

/** Removes the digits of keys, however few, from texts that can contain a key by mistake, such as a path or an option. */
export function redactKeys(text: string): string {
  return mayHoldKey(text) ? text.replace(DIGITS_OF_A_KEY, '_live_…') : text;
}

/** Removes keys from texts, as the last step before output. */
export class Redactor {
  readonly #secrets = new Map<string, (text: string) => string>();

  /** From now on `secret` appears as its mask. A text that cannot be a key is never sent. */
  protect(secret: string): void {
    const key = secret.trim();
    if (keyProblem(key) === undefined) this.#secrets.set(key, secretRedactor(key));
  }

  /** Data: unchanged except for keys. */
  redact(text: string): string {
    const known = this.#withoutSecrets(text);
    return mayHoldKey(known) ? known.replace(DOCUMENTED, '$1live_…$2') : known;
  }

  /** For messages, which can contain input: masks everything that looks like a key. */
  redactMessage(text: string): string {
    return maskKeysIn(this.#withoutSecrets(text));
  }

  /** Returns the same bytes if they contain no secret, so that a body is unchanged. */
  redactBytes(bytes: Uint8Array): Uint8Array {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    const redacted = this.redact(text);
    return redacted === text ? bytes : new TextEncoder().encode(redacted);
  }

  #withoutSecrets(text: string): string {
    let redacted = text;
    for (const redact of this.#secrets.values()) redacted = redact(redacted);
    return redacted;
  }
}
