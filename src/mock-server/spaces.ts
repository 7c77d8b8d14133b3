import type { PlanName } from '../generated/service.ts';
import type { BehaviourOptions } from './behaviour/behaviour.ts';
import type { PresetName } from './behaviour/switch.ts';
import type { ClockOptions, DrivenClock } from './clock/clock.ts';
import { createClock } from './clock/mock-clock.ts';
import { createHandler } from './handle.ts';
import type { HandleRequest } from './http/mock-message.ts';
import { hashOf, type ParsedRequest } from './http/parse-request.ts';
import type { Journal } from './journal/journal.ts';
import type { CheckedOptions } from './mock-options.ts';
import { assembleParts, type MockParts } from './mock-parts.ts';
import { MockScope } from './mock-scope.ts';
import { checkedId, checkOptionNames, freeName, MockServerError, unknownId } from './mock-server-error.ts';
import { randomFromSeed } from './service/random.ts';
import { emptyState, type ServiceState } from './service/service-state.ts';
import { checkedSnapshot, restoredState, type Snapshot, snapshotForSpace, withKeyOfMock } from './state/snapshot.ts';
import { restoreSnapshot } from './state/snapshots.ts';

/** Options of `mock.space()`. All are optional. */
export interface SpaceOptions {
  /**
   * Name of the space, which determines its key. Up to 64 letters, digits, `_` and `-`.
   * @default 'space_1', 'space_2', …
   */
  readonly name?: string | undefined;
  /**
   * Plan of the account of the space.
   * @default 'free'
   */
  readonly plan?: PlanName | undefined;
  /**
   * Clock of the space.
   * @default the mode and the current time of the mock's clock
   */
  readonly clock?: 'real' | 'virtual' | ClockOptions | undefined;
  /**
   * Switches that differ from the current ones of the mock.
   * @default the current switches of the mock
   */
  readonly behaviour?: PresetName | BehaviourOptions | undefined;
}

/**
 * A part of a mock for one test: an account and a key with separate counters, clock, switches, faults, stubs, handlers
 * and journal. The key of a request selects its space, through every adapter. Requests without a known key belong to the
 * mock itself.
 */
export class Space extends MockScope implements AsyncDisposable {
  /** Name of the space, also part of its admin routes. */
  readonly name: string;
  /** The full API key. */
  readonly key: string;
  /** Id of the key. */
  readonly keyId: string;
  /** Id of the account. */
  readonly accountId: string;
  readonly #end: () => void;
  readonly #parts: MockParts;

  constructor(name: string, { parts, plan = 'free', handleRequest, end }: SpaceParts) {
    super(parts, handleRequest);
    const { key, id, accountId } = this.createKey({ plan });
    this.name = name;
    this.key = key;
    this.keyId = id;
    this.accountId = accountId;
    this.#end = end;
    this.#parts = parts;
  }

  /**
   * Restores a snapshot, and clears the journal. The space keeps its key. If the snapshot is of another space or of a mock,
   * and has one key, the key of the space gets the plan and the usage of that key.
   * @throws MockServerError with code `invalid_snapshot`, if the snapshot is damaged or of another version, or has several
   * keys or none, and not the key of the space.
   * @example space.restore(prepared.snapshot())
   */
  override restore(snapshot: Snapshot): void {
    const { state, behaviour } = this.#parts;
    const checked = checkedSnapshot(snapshot, behaviour);
    restoreSnapshot(this.#parts, snapshotForSpace(checked, { keyId: this.keyId, state }));
  }

  /** Closes the space. Its keys are then unknown to the mock. */
  async close(): Promise<void> {
    this.#end();
  }

  /** Calls `close()` at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

interface SpaceParts {
  readonly parts: MockParts;
  readonly plan: PlanName | undefined;
  readonly handleRequest: HandleRequest;
  /** Removes the space from the mock. */
  readonly end: () => void;
}

/** The open spaces of one mock. Finds the space of a request. */
export class Spaces {
  readonly #live = new Map<string, { readonly space: Space; readonly parts: MockParts }>();
  readonly #partsByHash = new Map<string, MockParts>();
  readonly #options: CheckedOptions;
  readonly #mock: MockParts;

  /** Spaces share the options and the adapters of their mock. */
  constructor(options: CheckedOptions, mock: MockParts) {
    this.#options = options;
    this.#mock = mock;
  }

  get names(): readonly string[] {
    return Array.from(this.#live.keys());
  }

  get spaces(): readonly Space[] {
    return Array.from(this.#live.values(), ({ space }) => space);
  }

  get journals(): readonly Journal[] {
    return Array.from(this.#live.values(), ({ parts }) => parts.journal);
  }

  open(options: SpaceOptions): Space {
    checkOptionNames(options, { what: 'an option of space()', known: ['name', 'plan', 'clock', 'behaviour'] });
    const isTaken = (name: string) => this.#live.has(name);
    const { state } = this.#mock;
    const name =
      options.name === undefined ? freeName('space', state.lastSpace + 1, isTaken) : checkedId('name', options.name);
    if (isTaken(name)) {
      const text = `The space ${name} is already open; close it first, or choose another name.`;
      throw new MockServerError(text, { code: 'space_exists', status: 409 });
    }
    let first: Snapshot | undefined;
    // The seed of the state, because after `restore()` it is that of the snapshot.
    const firstState = () => (first === undefined ? namedState(state.seed, name) : restoredState(first));
    const parts = this.#assemble(options, name, firstState);
    const isOpen = () => this.#live.get(name)?.parts === parts;
    const end = () => {
      parts.delays.endAll();
      parts.journal.close();
      if (isOpen()) this.#live.delete(name);
      for (const [hash, found] of this.#partsByHash) if (found === parts) this.#partsByHash.delete(hash);
    };
    // A closed space responds in process as over HTTP, where its key is unknown.
    const handleRequest = createHandler({
      partsFor: (request) => (isOpen() ? parts : this.partsFor(request)),
    });
    const space = new Space(name, { parts, plan: options.plan, handleRequest, end });
    first = space.snapshot();
    this.#live.set(name, { space, parts });
    state.lastSpace += 1;
    return space;
  }

  /** Throws `MockServerError` with code `not_found`. */
  find(name: string): { readonly space: Space; readonly parts: MockParts } {
    const live = this.#live.get(name);
    if (live !== undefined) return live;
    throw unknownId('space', name, { known: this.#live.keys(), otherwise: 'is closed' });
  }

  /** The parts for a request: those of the space whose key it has, or of the mock itself. */
  partsFor({ credentials }: ParsedRequest): MockParts {
    if (this.#live.size === 0) return this.#mock;
    for (const { hash } of credentials) {
      const found = this.#partsOfKey(hash);
      if (found !== undefined) return found;
    }
    return this.#mock;
  }

  /** Checks the mock's own keys first, then the space found last for this key, so that many spaces cost little. */
  #partsOfKey(hash: string): MockParts | undefined {
    if (this.#mock.state.keysByHash.has(hash)) return this.#mock;
    const last = this.#partsByHash.get(hash);
    if (last?.state.keysByHash.has(hash)) return last;
    for (const { parts } of this.#live.values()) {
      if (!parts.state.keysByHash.has(hash)) continue;
      this.#partsByHash.set(hash, parts);
      return parts;
    }
    return undefined;
  }

  /** A checked snapshot for the mock itself, without the keys of open spaces. */
  snapshotForMock(snapshot: Snapshot): Snapshot {
    const { state } = this.#mock;
    const hasKeyOf = ({ parts }: { readonly parts: MockParts }) =>
      snapshot.keys.some(({ hash }) => parts.state.keysByHash.has(hash));
    const owner = Array.from(this.#live.values()).find(hasKeyOf);
    return owner === undefined ? snapshot : withKeyOfMock(snapshot, owner.space.name, state);
  }

  /** Refuses an action that would disturb the tests in open spaces. */
  refuseWhileLive(act: string): void {
    if (this.#live.size === 0) return;
    throw new MockServerError(
      `${act} is not possible while spaces are open (${this.names.join(', ')}); close them, or reset each space.`,
      { code: 'spaces_live', status: 409 },
    );
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.spaces.map((space) => space.close()));
  }

  #assemble({ behaviour, clock }: SpaceOptions, name: string, firstState: () => ServiceState): MockParts {
    const { sockets, adapters, responders, initialSetup, ...mock } = this.#mock;
    const space = { name, mock: mock.journal };
    const ownClock = createClock(clock ?? likeClock(mock.clock), sockets);
    const own = {
      behaviour: mock.behaviour.copy(behaviour),
      clock: ownClock,
      sockets,
      adapters,
      responders,
      initialSetup,
      firstState: () => ({ ...firstState(), ...initialSetup.stubsAndFaultsOfSpace(ownClock.now()) }),
    };
    return assembleParts(this.#options, own, space);
  }
}

function likeClock(clock: DrivenClock): ClockOptions {
  const { mode, autoAdvance, isFrozen: frozen } = clock;
  return { mode, autoAdvance, frozen, now: clock.now() };
}

/** The rates are those of the mock. The keys are unique, and do not depend on the order of tests. */
function namedState(seed: number, name: string): ServiceState {
  const ownSeed = Number.parseInt(hashOf(`${seed} ${name}`).slice(0, 12), 16);
  return { ...emptyState(seed), random: randomFromSeed(ownSeed) };
}
