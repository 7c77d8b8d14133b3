import { operations } from '../generated/operations.ts';
import { ActiveAdapters } from './adapters/active-adapters.ts';
import { Overrides } from './adapters/overrides.ts';
import { Behaviour } from './behaviour/behaviour.ts';
import type { DrivenClock } from './clock/clock.ts';
import { createClock } from './clock/mock-clock.ts';
import { SocketUse } from './clock/virtual-clock.ts';
import { ResponseDelays } from './delay.ts';
import { createAssumptionCheck, createRouter, type EmulatedService } from './http/respond.ts';
import { quotaResponder } from './http/responders.ts';
import { Journal, type JournalOfSpace, type PatternOf } from './journal/journal.ts';
import type { CheckedOptions } from './mock-options.ts';
import { within } from './mock-server-error.ts';
import { createLatestResponder } from './rates/latest.ts';
import { emptyState, type ServiceState } from './service/service-state.ts';
import { InitialSetup } from './setup.ts';

/** The parts of a mock, or of a space, which is a child of a mock. */
export interface MockParts extends EmulatedService {
  readonly baseUrl: string;
  readonly behaviour: Behaviour;
  readonly clock: DrivenClock;
  /** Creates the state at the start and after `reset()`. */
  readonly firstState: () => ServiceState;
  readonly journal: Journal;
  readonly overrides: Overrides;
  readonly delays: ResponseDelays;
  /** Shared by a mock and its spaces, like `adapters` and `initialSetup`. */
  readonly sockets: SocketUse;
  readonly adapters: ActiveAdapters;
  readonly initialSetup: InitialSetup;
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
    responders: { latest: createLatestResponder(), quota: quotaResponder },
    initialSetup,
    firstState: () => ({ ...emptyState(seed), ...initialSetup.stubsAndFaults(clock.now()) }),
  });
}

/** The option `behaviour` overrides the switches of the setup. */
function initialBehaviour({ behaviour, unsafe, setup = {} }: CheckedOptions): Behaviour {
  const { behaviour: ofSetup = {} } = setup;
  return within('setup', () => new Behaviour(ofSetup, { unsafe })).copy(behaviour);
}

type OwnParts = Pick<
  MockParts,
  'behaviour' | 'clock' | 'sockets' | 'adapters' | 'responders' | 'initialSetup' | 'firstState'
>;

/** Creates the parts of a mock or a space. `own`: the parts in which the two differ. */
export function assembleParts(options: CheckedOptions, own: OwnParts, space?: JournalOfSpace): MockParts {
  const { behaviour, clock } = own;
  const { baseUrl, defaultStubs, journalSize, onAssumption } = options;
  const state = own.firstState();
  const patternOf: PatternOf = (kind, id) =>
    kind === 'stub'
      ? state.stubs.find((stub) => stub.id === id)?.match
      : state.faults.find(({ settings }) => settings.id === id)?.settings.match;
  return {
    ...own,
    baseUrl,
    state,
    now: clock.now.bind(clock),
    findRoute,
    defaultStubs,
    checkAssumptions: createAssumptionCheck(onAssumption, behaviour, warn),
    journal: new Journal(journalSize, { space, knowsKey: (id) => state.keys.has(id), patternOf }),
    overrides: new Overrides(baseUrl),
    delays: new ResponseDelays(clock),
  };
}

const findRoute = createRouter(operations);

function warn(text: string): void {
  process.emitWarning(text, { type: 'FxratesMockWarning', code: 'FXRATES_ASSUMPTION' });
}
