import type { RequestSource } from '../adapters/active-adapters.ts';
import type { RequestIdentity } from '../http/identify-request.ts';
import type { InterruptibleWait, MockRequest } from '../http/mock-message.ts';
import { isPreflight } from '../http/response-headers.ts';
import type { HandledRequest } from '../http/service-handler.ts';
import { dateHeader } from '../http/service-response.ts';
import { newJournalEntry } from '../journal/journal.ts';
import type { ResponseDelays } from '../response-delays.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { applyFaults } from './apply-fault.ts';
import type { StruckSettings } from './fault-kinds.ts';
import { selectFaults } from './select-faults.ts';

/** Handles a request of any adapter. */
export type AdapterHandler = (request: MockRequest, source: RequestSource) => HandledRequest | Promise<HandledRequest>;

interface FaultsOptions {
  readonly context: ServiceContext;
  readonly identify: (request: MockRequest) => RequestIdentity;
  readonly delays: ResponseDelays;
}

/** Applies faults before and after the service. Costs nothing without faults. */
export function withFaults(next: AdapterHandler, { context, identify, delays }: FaultsOptions): AdapterHandler {
  async function handleWithFaults(request: MockRequest, source: RequestSource): Promise<HandledRequest> {
    const identity = identify(request);
    // A preflight has no part in a test's count of requests.
    const isUntouched = isPreflight(request) && context.behaviour.values.cors === 'any-origin';
    if (isUntouched) return await next(request, source);
    const candidate = { request: identity, adapter: source.adapter, at: identity.at, response: undefined };
    const before = selectFaults(context.state, candidate, 'before');
    const hasWaited = await waitFor(before, source);

    const isOver = !hasWaited || before.some(({ kind }) => kind !== 'latency');
    const decided = isOver ? notReceived({ ...identity, at: context.now() }, hasWaited) : await next(request, source);
    const seen = { ...candidate, at: context.now(), response: decided.response };
    const after = isOver ? [] : selectFaults(context.state, seen, 'after');
    const date = dateHeader(context.now());
    const onEndedEarly = (reason: string) => noteBrokenBody(handled.entry, reason);
    const wait: InterruptibleWait = (ms, signal) => delays.wait(ms, signal, { onEndedEarly });
    const handled = applyFaults(decided, [...before, ...after], { method: request.method, date, wait });
    return handled;
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

/** Adds to the reason of the entry if the connection ends between two parts of the body. The client has the status. */
function noteBrokenBody(entry: HandledRequest['entry'], reason: string): void {
  entry.why += `; ${reason} before the end of the body`;
}

/** The record of a request that did not reach the service. */
function notReceived(identity: RequestIdentity, hasWaited: boolean): HandledRequest {
  const why = hasWaited ? '' : 'the client disconnected before the response';
  return { response: undefined, entry: newJournalEntry({ ...identity, status: 0, why }) };
}
