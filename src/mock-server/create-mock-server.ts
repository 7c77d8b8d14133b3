import { operations } from '../generated/operations.ts';
import { ActiveAdapters } from './adapters/active-adapters.ts';
import { createFetch } from './adapters/fetch.ts';
import { Overrides } from './adapters/overrides.ts';
import { createAssumptionCheck } from './behaviour/assumptions.ts';
import { Behaviour } from './behaviour/behaviour.ts';
import { createClock } from './clock/create-clock.ts';
import { SocketUse } from './clock/socket-use.ts';
import { withDashboard } from './dashboard/with-dashboard.ts';
import { FaultDelays } from './faults/fault-delays.ts';
import { createMockFaults } from './faults/mock-faults.ts';
import { createRequestHandler, type HandleRequest } from './handle-request.ts';
import { createServiceHandler } from './http/handler.ts';
import { createIdentify } from './http/identify-request.ts';
import { quotaResponder } from './http/quota-responder.ts';
import { Journal } from './journal/journal.ts';
import { type CheckedOptions, checkOptions, type MockServerOptions } from './mock-options.ts';
import { MockServer } from './mock-server.ts';
import { createLatestResponder } from './rates/latest-responder.ts';
import { emptyState, type ServiceContext } from './service/service-state.ts';
import { type Assembled, type Core, makeSpace } from './spaces/make-space.ts';
import { Spaces } from './spaces/spaces.ts';

/**
 * An emulated exchange-rate service with its own accounts, limits and clock; it shares nothing with any other.
 * Throws `MockServerError` for an option that cannot be.
 */
export function createMockServer(options: MockServerOptions = {}): MockServer {
  return createFrom(checkOptions(options));
}

function createFrom(options: CheckedOptions): MockServer {
  const { seed, unsafe } = options;
  const sockets = new SocketUse();
  const core = {
    behaviour: new Behaviour(options.behaviour, { unsafe }),
    clock: createClock(options.clock, sockets),
    sockets,
    adapters: new ActiveAdapters(),
    firstState: () => emptyState(seed),
  };
  return assemble(options, core).mock;
}

function assemble(options: CheckedOptions, core: Core): Assembled {
  const { baseUrl } = options;
  const { behaviour, clock, sockets, adapters, firstState } = core;
  const context = { state: firstState(), behaviour, now: () => clock.now() };
  const journal = new Journal(options.journalSize);
  const overrides = new Overrides(baseUrl);
  const waits = new FaultDelays(clock);
  const own = createRequestHandler({
    ...{ context, overrides, clock, journal, waits },
    handler: createService(options, context),
    identify: createIdentify(context, operations),
  });
  const spaces = new Spaces(context.state, (name, wanted, onClose) => {
    // Of the state, not of the options: after `restore()` it is the snapshot's.
    const { seed } = context.state;
    return makeSpace(name, {
      seed,
      options: wanted,
      host: core,
      assemble: (inner) => assemble(options, inner),
      onClose,
    });
  });
  const handleRequest: HandleRequest = (request, source) => (spaces.handlerFor(request) ?? own)(request, source);
  const parts = {
    ...{ baseUrl, firstState, clock, context, journal, overrides, handleRequest, adapters, sockets, waits, spaces },
    fetch: createFetch(baseUrl, handleRequest),
    faults: createMockFaults({ context, operations, adapters }),
    remake: () => createFrom(options),
  };
  return { mock: new MockServer(parts), parts };
}

function createService({ onAssumption, source }: CheckedOptions, context: ServiceContext) {
  const service = createServiceHandler({
    context,
    checkAssumptions: createAssumptionCheck(onAssumption, context.behaviour, warn),
    operations,
    responders: { latest: createLatestResponder(source), quota: quotaResponder },
  });
  return withDashboard(service, context);
}

function warn(text: string): void {
  process.emitWarning(text, { type: 'FxratesMockWarning', code: 'FXRATES_ASSUMPTION' });
}
