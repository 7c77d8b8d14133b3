import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { load, mswMajorVersion } from './load-packages.ts';

/** The sender of a request that undici dispatches. */
type Owner =
  /** `fetch` of Node.js, which also uses undici's global dispatcher: msw has already handled the call. */
  | { readonly kind: 'global-fetch' }
  /** A check of msw's strategy for a request of undici. A request that reaches the dispatcher is allowed. */
  | { readonly kind: 'strategy-check'; readonly passed: () => void };

const owner = new AsyncLocalStorage<Owner>();

/** Whether msw has already decided about the request that is dispatched now. */
export function isDecidedByMsw(): boolean {
  return owner.getStore() !== undefined;
}

/** Whether the request that is dispatched now is a check of msw's strategy, which allowed it. It must not be sent. */
export function isStrategyCheck(): boolean {
  const current = owner.getStore();
  if (current?.kind !== 'strategy-check') return false;
  current.passed();
  return true;
}

/** Marks the calls of global `fetch` until the returned function is called. */
export function markGlobalFetch(): () => void {
  const previous = globalThis.fetch;
  const marked: typeof fetch = (...call) =>
    owner.getStore() === undefined ? owner.run({ kind: 'global-fetch' }, () => previous(...call)) : previous(...call);
  globalThis.fetch = marked;
  return () => {
    if (globalThis.fetch === marked) globalThis.fetch = previous;
  };
}

/**
 * Applies the strategy of the msw server that listens to a request without a handler: prints its messages, and rejects if it
 * forbids the request. Only the server knows its strategy.
 */
export function applyUnhandledStrategy(request: Request): Promise<void> {
  return mswMajorVersion() < 3 ? checkByFetch(request) : checkByFrame(request);
}

/** msw 2 responds in the `fetch` that it has replaced. The dispatcher stops the request that msw would send. */
async function checkByFetch(request: Request): Promise<void> {
  let hasPassed = false;
  const check = {
    kind: 'strategy-check',
    passed: () => {
      hasPassed = true;
    },
  } as const;
  await owner
    .run(check, () => globalThis.fetch(request))
    .then((response) => response.body?.cancel())
    .catch((error: unknown) => {
      if (!hasPassed) throw error;
    });
}

/** msw 3 responds at the socket, so the server receives the request as if an interceptor of msw had sent it. */
async function checkByFrame(request: Request): Promise<void> {
  const { HttpNetworkFrame } = load('msw/experimental');
  let refusal: { readonly reason: unknown } | undefined;
  class UnhandledRequest extends HttpNetworkFrame {
    override getHandlers(): [] {
      return [];
    }
    override passthrough(): void {}
    override respondWith(): void {}
    override errorWith(reason: unknown): void {
      refusal = { reason };
    }
  }
  await load('msw/node').defaultNetworkOptions.sources[0].queue(new UnhandledRequest({ request }));
  if (refusal !== undefined) throw refusal.reason;
}

/** The part of msw's `server.events` that is used here. */
export interface MswEvents {
  emit?(event: Event): unknown;
}

/** Emits the life-cycle events of one request of undici, as msw does for the requests that it intercepts. */
export function createEventReporter(events: MswEvents | undefined, request: Request) {
  const requestId = randomUUID();
  return (type: string, more: { readonly response?: Response; readonly error?: unknown } = {}): void => {
    // Copies: a listener may read a body that the request still needs.
    const copy = more.response === undefined ? {} : { response: more.response.clone() };
    const data = { request: request.clone(), requestId, ...more, ...copy };
    events?.emit?.(Object.assign(new MessageEvent(type), data));
  };
}
