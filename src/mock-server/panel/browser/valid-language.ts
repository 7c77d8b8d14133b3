/** Chromium without a locale has the language `en-US@posix`, with which the library of the chart throws when it loads. */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' });
}
