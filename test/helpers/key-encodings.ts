const codes = (text: string) => [...text].map((character) => character.charCodeAt(0));
const hex = (code: number) => code.toString(16).padStart(2, '0');
const underscoreAs = (code: string) => (key: string) => key.replaceAll('_', code);
const eachAs = (encode: (code: number) => string) => (key: string) => codes(key).map(encode).join('');

/** How text can contain a key. Every output of the client, the command line and the mock server masks all of them. */
export const KEY_ENCODINGS: Readonly<Record<string, (key: string) => string>> = {
  'as it is': (key) => key,
  'in capitals': (key) => key.toUpperCase(),
  'without its prefix': (key) => key.replace(/^fx_live_/, ''),
  'URL-encoded': (key) => encodeURIComponent(key),
  'URL-encoded with small digits': (key) => encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase()),
  'as a form field': (key) => new URLSearchParams({ key }).toString().slice('key='.length),
  'URL-encoded twice': (key) => encodeURIComponent(underscoreAs('%5F')(key)),
  'with %5F': underscoreAs('%5F'),
  'with %5f': underscoreAs('%5f'),
  'with %255f': underscoreAs('%255f'),
  'with \\u005f': underscoreAs('\\u005f'),
  'with \\u005F in JSON in JSON': underscoreAs('\\\\u005F'),
  'with \\u{5f}': underscoreAs('\\u{5f}'),
  'with \\u{005f}': underscoreAs('\\u{005f}'),
  'with \\x5f': underscoreAs('\\x5f'),
  'with =5F': underscoreAs('=5F'),
  'with &#95;': underscoreAs('&#95;'),
  'with &#x5f;': underscoreAs('&#x5f;'),
  'with &lowbar;': underscoreAs('&lowbar;'),
  'with each character as %xx': eachAs((code) => `%${hex(code)}`),
  'with each character as \\u00xx': eachAs((code) => `\\u00${hex(code)}`),
  'as JSON': (key) => JSON.stringify(key).slice(1, -1),
  'as JSON with escaped slashes': (key) => JSON.stringify(key).slice(1, -1).replaceAll('/', '\\/'),
  'in single quotes of JavaScript': (key) => key.replace(/[\\']/g, '\\$&'),
  'as JSON in JSON': (key) => JSON.stringify(JSON.stringify(key)).slice(3, -3),
};

/** For a key that is known, and not only recognised by its form. */
export const KNOWN_KEY_ENCODINGS: typeof KEY_ENCODINGS = {
  ...KEY_ENCODINGS,
  'without its prefix, with each character as %xx': (key) =>
    eachAs((code) => `%${hex(code)}`)(key.replace(/^fx_live_/, '')),
  'with each character as \\u{xx}': eachAs((code) => `\\u{${hex(code)}}`),
  'in hexadecimal': (key) => Buffer.from(key).toString('hex'),
  'in base64': (key) => Buffer.from(key).toString('base64'),
  'as the password of Basic': (key) => Buffer.from(`user:${key}`).toString('base64'),
  'as the user of Basic': (key) => Buffer.from(`${key}:`).toString('base64'),
  'in base64url': (key) => Buffer.from(`us:${key}`).toString('base64url'),
};
