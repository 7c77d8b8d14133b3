import { once } from 'node:events';
import type { RequestSource } from '../adapters/active-adapters.ts';
import type { Clock } from '../clock/clock.ts';
import { isDashboardPath } from '../dashboard/dashboard.ts';
import type { RequestIdentity } from '../http/identify-request.ts';
import type { InterruptibleWait, MockRequest } from '../http/mock-message.ts';
import { isPreflight } from '../http/response-headers.ts';
import type { HandledRequest } from '../http/service-handler.ts';
import { dateHeader } from '../http/service-response.ts';
import { newJournalEntry } from '../journal/journal.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { applyFaults } from './apply-fault.ts';
import type { StruckSettings } from './fault-kinds.ts';
import { selectFaults } from './select-faults.ts';

/** Handles a request of any adapter. */
export type AdapterHandler = (request: MockRequest, source: RequestSource) => HandledRequest | Promise<HandledRequest>;

export interface FaultsOptions {
  readonly context: ServiceContext;
  readonly identify: (request: MockRequest) => RequestIdentity;
  readonly delays: FaultDelays;
}

/** Applies faults before and after the service. Costs nothing without faults. */
export function withFaults(next: AdapterHandler, { context, identify, delays }: FaultsOptions): AdapterHandler {
  const wait: InterruptibleWait = (ms, signal) => delays.wait(ms, signal);

  async function handleWithFaults(request: MockRequest, source: RequestSource): Promise<HandledRequest> {
    const identity = identify(request);
    // A preflight has no part in a test's count of requests.
    const isUntouched = isPreflight(request) && context.behaviour.values.cors === 'any-origin';
    if (isUntouched || isDashboardPath(identity.path)) return await next(request, source);
    const candidate = { request: identity, adapter: source.adapter, at: identity.at, response: undefined };
    const before = selectFaults(context.state, candidate, 'before');
    const hasWaited = await waitFor(before, source);

    const isOver = !hasWaited || before.some(({ kind }) => kind !== 'latency');
    const decided = isOver ? notReceived({ ...identity, at: context.now() }, hasWaited) : await next(request, source);
    const seen = { ...candidate, at: context.now(), response: decided.response };
    const after = isOver ? [] : selectFaults(context.state, seen, 'after');
    const date = dateHeader(context.now());
    return applyFaults(decided, [...before, ...after], { method: request.method, date, wait });
  }

  async function waitFor(struck: readonly StruckSettings[], { getSignal }: RequestSource): Promise<boolean> {
    for (const settings of struck) {
      if (settings.kind === 'latency' && !(await delays.wait(settings.latencyMs, getSignal?.()))) return false;
    }
    return true;
  }

  return (request, source) =>
    context.state.faults.length === 0 ? next(request, source) : handleWithFaults(request, source);
}

/** The record of a request that did not reach the service. */
function notReceived(identity: RequestIdentity, hasWaited: boolean): HandledRequest {
  const why = hasWaited ? '' : 'the client disconnected before the response';
  return { response: undefined, entry: newJournalEntry({ ...identity, status: 0, why }) };
}

interface DelayOptions {
  /** Ids of the faults that make the request hang. */
  readonly faults?: readonly string[] | undefined;
  /** Called when the wait ends early, before code that waits for the same signal continues. */
  readonly onEndedEarly?: (() => void) | undefined;
}

/**
 * The waits that faults and stubs cause, by the mock's clock. They end early when the client disconnects or the mock is
 * closed.
 */
export class FaultDelays {
  readonly #clock: Clock;
  /** Each with the ids of the faults that make the request hang. */
  readonly #waiting = new Map<AbortController, readonly string[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Infinity waits until a fault of `faults` is removed. Returns whether the whole time has passed. */
  async wait(
    ms: number,
    signal: AbortSignal | undefined,
    { faults = [], onEndedEarly = () => undefined }: DelayOptions = {},
  ): Promise<boolean> {
    const end = new AbortController();
    end.signal.addEventListener('abort', onEndedEarly, { once: true });
    const stop = () => end.abort();
    if (signal?.aborted) {
      stop();
      return false;
    }
    signal?.addEventListener('abort', stop, { once: true });
    this.#waiting.set(end, ms === Number.POSITIVE_INFINITY ? faults : []);
    try {
      await (ms === Number.POSITIVE_INFINITY ? once(end.signal, 'abort') : this.#clock.sleep(ms, end.signal));
      return !end.signal.aborted;
    } catch (error) {
      if (end.signal.aborted) return false;
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#waiting.delete(end);
    }
  }

  /** Ends the requests that hang because of a fault. */
  endHanging(faultId: string): void {
    for (const [end, faults] of this.#waiting) if (faults.includes(faultId)) end.abort();
  }

  endAll(): void {
    for (const end of this.#waiting.keys()) end.abort();
  }
}
