import type { Behaviour } from '../behaviour/behaviour.ts';
import type { ClockOptions, DrivenClock } from '../clock/clock.ts';
import { createClock } from '../clock/create-clock.ts';
import type { Sockets } from '../clock/sockets.ts';
import type { WaysIn } from '../faults/ways-in.ts';
import type { MockServer, MockServerParts } from '../mock-server.ts';
import type { CreatedKey } from '../service/keys.ts';
import { hashOf } from '../service/keys.ts';
import { randomFromSeed } from '../service/random.ts';
import { emptyState, type ServiceState } from '../service/service-state.ts';
import { type Snapshot, stateOf } from '../service/snapshot.ts';
import type { Space, SpaceOptions } from './space.ts';
import type { LiveSpace } from './spaces.ts';

/** What differs between a mock and a space of it. */
export interface Core {
  readonly behaviour: Behaviour;
  readonly clock: DrivenClock;
  readonly sockets: Sockets;
  readonly ways: WaysIn;
  /** What it knows when it begins, and after `reset()`. */
  readonly firstState: () => ServiceState;
}

export interface SpaceMaking {
  readonly seed: number;
  readonly options: SpaceOptions;
  /** The mock that the space belongs to. */
  readonly host: Core;
  readonly assemble: (core: Core) => Assembled;
  /** The mock forgets the space. */
  readonly onClose: () => void;
}

/** A mock with its parts. */
export interface Assembled {
  readonly mock: MockServer;
  readonly parts: MockServerParts;
}

/** A mock with one account and key, which shares with its host what time cannot change: options, and the ways in. */
export function makeSpace(name: string, { seed, options, host, assemble, onClose }: SpaceMaking): LiveSpace {
  let first: Snapshot | undefined;
  const { mock, parts } = assemble({
    behaviour: host.behaviour.copy(options.behaviour),
    clock: createClock(options.clock ?? likeClock(host.clock), host.sockets),
    sockets: host.sockets,
    ways: host.ways,
    firstState: () => (first === undefined ? namedState(seed, name) : stateOf(first)),
  });
  const created = mock.createKey({ plan: options.plan ?? 'free' });
  first = mock.snapshot();
  const close = async () => {
    onClose();
    await mock.close();
  };
  const { journal, exchange, context } = parts;
  return { space: toSpace(name, created, { mock, close }), mock, journal, exchange, state: context.state };
}

function likeClock(clock: DrivenClock): ClockOptions {
  const { mode, autoAdvance, isFrozen: frozen } = clock;
  return { mode, autoAdvance, frozen, now: clock.now() };
}

/** The rates are those of the mock; the keys are nobody else's, and do not depend on the order of tests. */
function namedState(seed: number, name: string): ServiceState {
  const ownSeed = Number.parseInt(hashOf(`${seed} ${name}`).slice(0, 12), 16);
  return { ...emptyState(seed), random: randomFromSeed(ownSeed) };
}

interface Inside {
  readonly mock: MockServer;
  readonly close: () => Promise<void>;
}

function toSpace(name: string, { key, id, accountId }: CreatedKey, { mock, close }: Inside): Space {
  const { baseUrl, fetch, accounts, keys, outbox, clock, behaviour, journal, faults, snapshots } = mock;
  return {
    ...{ name, key, keyId: id, accountId },
    ...{ baseUrl, fetch, accounts, keys, outbox, clock, behaviour, journal, faults, snapshots },
    createKey: (options) => mock.createKey(options),
    expectRequests: (filter) => mock.expectRequests(filter),
    audit: () => mock.audit(),
    clientOptions: () => mock.clientOptions(),
    use: (...handlers) => mock.use(...handlers),
    snapshot: () => mock.snapshot(),
    restore: (snapshot) => mock.restore(snapshot),
    reset: () => mock.reset(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
