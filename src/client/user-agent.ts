import { VERSION } from '../version.ts';

/** Bun and Deno also have a version of Node that they are compatible with; workerd may have no versions at all. */
const RUNTIMES = ['bun', 'deno', 'node'];

/** Such as `fxrates/1.2.3 node/22.19.0`. */
export function userAgent(): string {
  const versions: Readonly<Record<string, string | undefined>> = globalThis.process?.versions ?? {};
  const runtime = RUNTIMES.find((name) => versions[name] !== undefined);
  return runtime === undefined ? `fxrates/${VERSION}` : `fxrates/${VERSION} ${runtime}/${versions[runtime]}`;
}
