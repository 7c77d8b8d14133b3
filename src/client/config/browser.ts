import { ConfigError } from '../errors/errors.ts';

/** The key is for server-side code (SERVICE.md, Authentication, rule 2). @throws ConfigError in a browser. */
export function requireBrowserConsent(isAllowed: boolean): void {
  if (isAllowed || !isBrowser()) return;
  throw new ConfigError(
    'FxRates: this looks like a browser, where everybody can read the API key; call the service from your server (or pass dangerouslyAllowBrowser: true)',
  );
}

/** A test environment such as jsdom has a document too, but it is Node. */
function isBrowser(): boolean {
  const hasPage = 'document' in globalThis || 'importScripts' in globalThis;
  return hasPage && globalThis.process?.versions?.node === undefined;
}
