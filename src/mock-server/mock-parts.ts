import { operations } from '../generated/operations.ts';
import { ActiveAdapters } from './adapters/active-adapters.ts';
import { Overrides } from './adapters/overrides.ts';
import { createAssumptionCheck } from './behaviour/assumptions.ts';
import { Behaviour } from './behaviour/behaviour.ts';
import type { DrivenClock } from './clock/clock.ts';
import { createClock } from './clock/mock-clock.ts';
import { SocketUse } from './clock/virtual-clock.ts';
import { createRequestHandler, type HandleRequest } from './handle-request.ts';
import { createIdentify } from './http/identify-request.ts';
import { quotaResponder, type Responder } from './http/responders.ts';
import { createRouter } from './http/router.ts';
import { createServiceHandler } from './http/service-handler.ts';
import { InitialSetup } from './initial-setup.ts';
import { Journal, type JournalOfSpace, type PatternOf } from './journal/journal.ts';
import type { CheckedOptions } from './mock-options.ts';
import { within } from './mock-server-error.ts';
import { createLatestResponder } from './rates/latest-responder.ts';
import { ResponseDelays } from './response-delays.ts';
import { emptyState, type ServiceContext, type ServiceState } from './service/service-state.ts';

/** The parts of a mock. A space has the same parts. */
export interface MockParts {
  readonly baseUrl: string;
  readonly behaviour: Behaviour;
  readonly clock: DrivenClock;
  /** Shared by a mock and its spaces, like `adapters`. */
  readonly sockets: SocketUse;
  readonly adapters: ActiveAdapters;
  /** Shared like `sockets`, so that the same request at the same time has the same rates. */
  readonly responders: Readonly<Record<string, Responder>>;
  /** Shared like `sockets`. */
  readonly initialSetup: InitialSetup;
  /** Creates the state at the start and after `reset()`. */
  readonly firstState: () => ServiceState;
  readonly context: ServiceContext;
  readonly journal: Journal;
  readonly overrides: Overrides;
  readonly delays: ResponseDelays;
  /** Handles requests with these parts, whichever key they have. */
  readonly handleRequest: HandleRequest;
}

/** Creates the parts of a mock. */
export function createMockParts(options: CheckedOptions): MockParts {
  const { seed } = options;
  const sockets = new SocketUse();
  const clock = createClock(options.clock, sockets);
  const initialSetup = new InitialSetup();
  return assembleParts(options, {
    behaviour: initialBehaviour(options),
    clock,
    sockets,
    adapters: new ActiveAdapters(),
    responders: { latest: createLatestResponder(options.source), quota: quotaResponder },
    initialSetup,
    firstState: () => ({ ...emptyState(seed), ...initialSetup.stubsAndFaults(clock.now()) }),
  });
}

/** The option `behaviour` overrides the switches of the setup. */
function initialBehaviour({ behaviour, unsafe, setup = {} }: CheckedOptions): Behaviour {
  const { behaviour: ofSetup = {} } = setup;
  return within('setup', () => new Behaviour(ofSetup, { unsafe })).copy(behaviour);
}

/** Creates the parts of a mock or a space. `own`: the parts in which the two differ. */
export function assembleParts(
  options: CheckedOptions,
  own: Pick<MockParts, 'behaviour' | 'clock' | 'sockets' | 'adapters' | 'responders' | 'initialSetup' | 'firstState'>,
  space?: JournalOfSpace,
): MockParts {
  const { behaviour, clock, firstState } = own;
  const context = { state: firstState(), behaviour, now: () => clock.now() };
  const knowsKey = (id: string) => context.state.keys.has(id);
  const patternOf: PatternOf = (kind, id) =>
    kind === 'stub'
      ? context.state.stubs.find((stub) => stub.id === id)?.match
      : context.state.faults.find(({ settings }) => settings.id === id)?.settings.match;
  const journal = new Journal(options.journalSize, { space, knowsKey, patternOf });
  const overrides = new Overrides(options.baseUrl);
  const delays = new ResponseDelays(clock);
  const identify = createIdentify(context, findRoute);
  const checkAssumptions = createAssumptionCheck(options.onAssumption, behaviour, warn);
  const handler = createServiceHandler({ context, checkAssumptions, findRoute, responders: own.responders, identify });
  const handleRequest = createRequestHandler({ handler, overrides, clock, journal, identify, context, delays });
  return { ...own, baseUrl: options.baseUrl, context, journal, overrides, delays, handleRequest };
}

const findRoute = createRouter(operations);

function warn(text: string): void {
  process.emitWarning(text, { type: 'FxratesMockWarning', code: 'FXRATES_ASSUMPTION' });
}
