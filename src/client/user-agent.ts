import { VERSION } from '../version.ts';

/** Bun and Deno also have a version of Node that they are compatible with; workerd may have no versions at all. */
const RUNTIMES = ['bun', 'deno', 'node'];

/** Such as `fxrates/1.2.3 node/22.19.0 my-app/2.0`. */
export function userAgent(appInfo: string | undefined): string {
  const versions: Readonly<Record<string, string | undefined>> = globalThis.process?.versions ?? {};
  const runtime = RUNTIMES.find((name) => versions[name] !== undefined);
  const parts = [`fxrates/${VERSION}`, runtime && `${runtime}/${versions[runtime]}`, appInfo];
  return parts.filter((part) => part !== undefined).join(' ');
}
