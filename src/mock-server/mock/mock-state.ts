import { operations } from '../../generated/operations.ts';
import { Behaviour } from '../behaviour/behaviour.ts';
import { DrivenClock } from '../clock/driven-clock.ts';
import { ResponseDelays } from '../clock/response-delays.ts';
import { createRouter } from '../http/find-route.ts';
import type { AdapterName } from '../http/message.ts';
import { quotaResponse } from '../http/responses.ts';
import { within } from '../input/mock-server-error.ts';
import { Journal } from '../journal/journal.ts';
import { addRules } from '../rules/mock-rules.ts';
import type { RuleState } from '../rules/rule-schema.ts';
import { revoke } from '../service/accounts.ts';
import { applyUsage, type CreatedKey, createKeyWithAccount, findKey, hashOf } from '../service/keys.ts';
import { setBehaviour } from '../service/mock-behaviour.ts';
import { randomFromSeed } from '../service/random.ts';
import { emptyState, renewKeys } from '../service/service-state.ts';
import type { CheckedMockOptions, CheckedSetup, SetupKey, SetupResult } from './options.ts';
import type { EmulatedService } from './respond.ts';
import { latestResponse } from './respond-latest.ts';

/** The adapters in use. A rule that one of them does not support is rejected before the first request. */
export class ActiveAdapters {
  readonly #open: AdapterName[] = [];

  /** `mock.fetch` is always available. It is in use if no other adapter is. */
  get inUse(): readonly AdapterName[] {
    return this.haveTransit ? Array.from(new Set(this.#open)) : ['fetch'];
  }

  /** Whether requests are in transit for a while before they reach the mock. Those of `mock.fetch` are not. */
  get haveTransit(): boolean {
    return this.#open.length > 0;
  }

  /** Returns a function that closes it again. */
  open(name: AdapterName): () => void {
    this.#open.push(name);
    return () => void this.#open.splice(this.#open.indexOf(name), 1);
  }
}

/**
 * What a mock consists of. A space is a child mock: it has a name and a parent, with which it shares adapters.
 * `MockMethods` has the methods.
 */
export interface MockState extends EmulatedService {
  readonly options: CheckedMockOptions;
  /** Name of the space; `undefined` for the mock itself. */
  readonly name: string | undefined;
  readonly parent: MockState | undefined;
  /** The open spaces by name. A space has none. */
  readonly spaces: Map<string, MockState>;
  readonly clock: DrivenClock;
  readonly lifetime: { isClosed: boolean };
  readonly journal: Journal;
  readonly delays: ResponseDelays;
  readonly adapters: ActiveAdapters;
  /** With `seed`, the state at the start and after `reset()`. */
  readonly seed: number;
  readonly initial: Pick<CheckedSetup, 'keys' | 'rules'>;
  /** Called after each request of the service or the admin API that can have changed what a snapshot contains. */
  noteChange?: (() => void) | undefined;
}

/** Creates a mock with an empty state. */
export function createMockState(options: CheckedMockOptions): MockState {
  const adapters = new ActiveAdapters();
  return assembleState({
    options,
    name: undefined,
    parent: undefined,
    behaviour: initialBehaviour(options),
    clock: new DrivenClock(options.clock, adapters),
    adapters,
    responders: { latest: latestResponse, quota: quotaResponse },
    seed: options.seed,
    initial: options.setup,
  });
}

/** The option `behaviour` overrides the switches of the setup. */
function initialBehaviour({ behaviour, setup }: CheckedMockOptions): Behaviour {
  const { behaviour: ofSetup = {} } = setup;
  return within('setup', () => new Behaviour(ofSetup)).copy(behaviour);
}

/** What a space has instead of the parts of its parent. */
type OwnParts = Pick<MockState, 'name' | 'behaviour' | 'clock' | 'seed' | 'initial'>;

/** Creates a space with an empty state. The caller adds it to the spaces of its parent. */
export function createSpaceState(parent: MockState, own: OwnParts): MockState {
  return assembleState({ ...parent, ...own, parent, noteChange: undefined }); // a snapshot has no spaces
}

function assembleState(
  given: OwnParts & Pick<MockState, 'options' | 'parent' | 'adapters' | 'responders' | 'noteChange'>,
): MockState {
  const { options, clock } = given;
  const lifetime = { isClosed: false };
  return {
    ...given,
    state: emptyStateOf(given),
    now: clock.now.bind(clock),
    findRoute,
    warned: new Set(),
    spaces: new Map(),
    lifetime,
    journal: new Journal(options.journalSize, lifetime),
    delays: new ResponseDelays(clock, lifetime),
  };
}

/** The rates of a space are those of the mock. Its keys are its own, and do not depend on the order of tests. */
function emptyStateOf({ seed, name }: Pick<MockState, 'seed' | 'name'>): RuleState {
  const state = { ...emptyState(seed), rules: [], lastRule: 0, ruleIds: new Set<string>() };
  if (name === undefined) return state;
  const ownSeed = Number.parseInt(hashOf(`${seed} ${name}`).slice(0, 12), 16);
  return { ...state, random: randomFromSeed(ownSeed) };
}

const findRoute = createRouter(operations);

/** Whether a space is open. Another space can have the name of a closed one. */
export function isOpen(space: MockState): boolean {
  return space.name !== undefined && space.parent?.spaces.get(space.name) === space;
}

/**
 * Ends the waits of a mock or a space, now and later, and closes the space: its keys are then unknown. Another mock can have
 * the same keys.
 */
export function closeMock(mock: MockState): void {
  const { lifetime, state, delays, journal } = mock;
  if (!lifetime.isClosed) renewKeys(state);
  lifetime.isClosed = true;
  delays.endAll();
  journal.endWaits();
  if (mock.name !== undefined && isOpen(mock)) mock.parent?.spaces.delete(mock.name);
}

/** Opens a closed mock again; not one that has released its state file, and not a space, whose keys are unknown. */
export function reopenMock({ lifetime, options, parent }: MockState): void {
  if (options.state === undefined && parent === undefined) lifetime.isClosed = false;
}

/** Applies a setup that is possible in this mock. */
export function applySetup({ behaviour, keys, rules }: CheckedSetup, mock: MockState): SetupResult {
  // The usage of a key depends on switches.
  if (behaviour !== undefined) setBehaviour(mock, behaviour);
  const result = { keys: keys.map((key) => createSetupKey(key, mock)) };
  addRules(mock, rules);
  return result;
}

function createSetupKey({ plan, limits, usage = {}, revoked = false }: SetupKey, mock: MockState): CreatedKey {
  const created = createKeyWithAccount(mock, { plan, limits });
  const key = findKey(mock.state, created.id);
  applyUsage(mock, key, usage);
  if (revoked) revoke(key, mock.now());
  return created;
}

/** What a space of the mock contains: not the keys of the mock, and the rules for these. */
export function initialStateOfSpace({ initial }: MockState, key: SetupKey): MockState['initial'] {
  return { keys: [key], rules: initial.rules.filter(({ match }) => match.keyId === undefined) };
}

/** Sets the state to the initial one. Returns the created keys. */
export function startState(mock: MockState): readonly CreatedKey[] {
  Object.assign(mock.state, emptyStateOf(mock));
  // Any adapter can be opened later. Each refuses the rules that it cannot reproduce.
  const { keys, rules } = mock.initial;
  return applySetup({ keys, rules }, mock).keys;
}
