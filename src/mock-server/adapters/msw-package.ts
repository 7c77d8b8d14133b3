import { createRequire } from 'node:module';
import { MockServerError } from '../input/mock-server-error.ts';

/** The packages that are loaded on first use, because most users of the mock do not need them. */
interface Packages {
  readonly msw: typeof import('msw');
  readonly 'msw/node': typeof import('msw/node');
  readonly 'msw/package.json': { readonly version: string };
}

const require = createRequire(import.meta.url);

/** `require`, because getters and `listen()` cannot wait; Node 20.19 and later require ES modules too. */
export function load<Name extends keyof Packages>(name: Name): Packages[Name] {
  try {
    if (NODE_VERSION < 22 && (name === 'msw' || name === 'msw/node')) refuseMsw3();
    return require(name);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new MockServerError(`msw is not installed; run ${INSTALL_MSW}.`, { code: 'msw_missing', cause });
  }
}

export function mswMajorVersion(): number {
  return Number.parseInt(load('msw/package.json').version, 10);
}

const NODE_VERSION = Number.parseInt(process.versions.node, 10);

/** msw 3 needs Node 22. */
const INSTALL_MSW = NODE_VERSION < 22 ? 'npm i -D msw@2' : 'npm i -D msw';

/** On Node 20, msw 3 loads, and fails at its first use with a TypeError. */
function refuseMsw3(): void {
  if (mswMajorVersion() < 3) return;
  const text = `msw 3 requires Node.js 22, and this is Node.js ${process.versions.node}; run ${INSTALL_MSW}.`;
  throw new MockServerError(text, { code: 'msw_missing' });
}
