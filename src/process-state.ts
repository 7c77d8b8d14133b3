/**
 * The value under `name` that all copies of the package in this process share: ES module and CommonJS, and a second
 * installation. The first copy that asks creates it. A name ends with the version of the shape of its value.
 */
export function processState<T>(name: string, create: () => T): T {
  const key = Symbol.for(`fxrates.${name}`);
  const holder = globalThis as { [key: symbol]: T | undefined };
  const found = holder[key];
  if (found !== undefined) return found;
  const value = create();
  Object.defineProperty(globalThis, key, { value }); // not enumerable: printing globalThis does not show it
  return value;
}

/**
 * How often a mock server in this process has reset a key, by the SHA-256 of the key: what a client knew of it before is void.
 */
export function keyGenerations(): Map<string, number> {
  return processState('key-generations.1', () => new Map<string, number>());
}

/** Whether a promise that another request settles never continues (Cloudflare Workers): then requests share data only. */
export function isolatesRequests(): boolean {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
