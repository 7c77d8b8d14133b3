import { createRequire } from 'node:module';
import { MockServerError } from '../mock-server-error.ts';

type Msw = typeof import('msw');
export type MswNode = typeof import('msw/node');

const require = createRequire(import.meta.url);

/** msw, which is loaded when it is first needed: most users of the mock have no need of it. */
export function loadMsw(): Msw {
  return load('msw') as Msw;
}

export function loadMswNode(): MswNode {
  return load('msw/node') as MswNode;
}

/** The classes that msw's own interceptors describe requests with. */
export function loadMswFrames(): typeof import('msw/experimental') {
  return load('msw/experimental') as typeof import('msw/experimental');
}

export function mswMajorVersion(): number {
  return Number.parseInt((load('msw/package.json') as { readonly version: string }).version, 10);
}

/** `require`, because getters and `listen()` cannot wait; Node 20.19 and later require ES modules too. */
function load(name: string): unknown {
  try {
    return require(name);
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    throw new MockServerError(`msw is not installed; run ${INSTALL_MSW}.`, { code: 'msw_missing', cause });
  }
}

/** msw 3 needs Node 22. */
const INSTALL_MSW = Number.parseInt(process.versions.node, 10) < 22 ? 'npm i -D msw@2' : 'npm i -D msw';

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
}

type Undici = typeof import('undici');

/** undici, loaded when it is first needed: `mock.fetch` and `mock.serve` do without. */
export function loadUndici(): Undici {
  return require('undici') as Undici;
}

/** Whether the response is msw's `passthrough()` or `bypass()`: the request is to be sent. */
export function isPassthrough({ headers }: Response): boolean {
  return headers.get('x-msw-intention') === 'passthrough';
}
