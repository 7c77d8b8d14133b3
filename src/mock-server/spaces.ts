import * as z from 'zod';
import type { BehaviourOptions } from './behaviour/behaviour.ts';
import type { PresetName } from './behaviour/switch.ts';
import type { ClockOptions } from './clock/clock.ts';
import { DrivenClock } from './clock/driven-clock.ts';
import { hashOf } from './http/parse-request.ts';
import { initialStateOfSpace, startState } from './initial-state.ts';
import { checkedInput, nameSchema } from './matching/checked-input.ts';
import { closeCore, createChild, type MockCore } from './mock-core.ts';
import { MockScope } from './mock-scope.ts';
import { freeName, MockServerError, withId } from './mock-server-error.ts';
import { randomFromSeed } from './service/random.ts';
import { emptyState, planName, type ServiceState } from './service/service-state.ts';

export const spaceOptions = z.strictObject({
  /**
   * Name of the space, which determines its key. Up to 64 letters, digits, `_` and `-`.
   * @default 'space_1', 'space_2', …
   */
  name: nameSchema.optional().describe('Name of the space, which determines its key. Letters, digits, `_` and `-`.'),
  /**
   * Plan of the account of the space.
   * @default 'free'
   */
  plan: planName.optional(),
  /**
   * Clock of the space.
   * @default the mode and the current time of the mock's clock
   */
  clock: z.custom<'real' | 'virtual' | ClockOptions>().optional(),
  /**
   * Switches that differ from the current ones of the mock.
   * @default the current switches of the mock
   */
  behaviour: z.custom<PresetName | BehaviourOptions>().optional(),
});

/** Options of `mock.space()`. All are optional. */
export type SpaceOptions = Readonly<z.input<typeof spaceOptions>>;

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
  readonly #core: MockCore;

  constructor(name: string, core: MockCore) {
    super(core);
    const [{ key = '', id = '', accountId = '' } = {}] = startState(core);
    this.name = name;
    this.key = key;
    this.keyId = id;
    this.accountId = accountId;
    this.#core = core;
  }

  /** Closes the space. Its keys are then unknown to the mock. */
  async close(): Promise<void> {
    closeCore(this.#core);
  }

  /** Calls `close()` at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Opens a space of a mock. */
export function openSpace(mock: MockCore, options: SpaceOptions): Space {
  const { state, spaces } = mock;
  const { plan, behaviour, ...given } = checkedInput(spaceOptions, options, { what: 'an option of space()' });
  const { mode, autoAdvance, isFrozen: frozen } = mock.clock;
  const { clock = { mode, autoAdvance, frozen, now: mock.clock.now() } } = given;
  const { name = freeName('space', state.lastSpace + 1, (taken) => spaces.has(taken)) } = given;
  if (spaces.has(name)) {
    const text = `The space ${name} is already open; close it first, or choose another name.`;
    throw new MockServerError(text, { code: 'space_exists', status: 409 });
  }
  const { seed } = state; // after `restore()`, it is that of the snapshot
  const core = createChild(mock, {
    name,
    behaviour: mock.behaviour.copy(behaviour),
    clock: new DrivenClock(clock, mock.adapters),
    emptyState: () => namedState(seed, name),
    initial: initialStateOfSpace(mock, { plan }),
  });
  const space = new Space(name, core);
  spaces.set(name, core);
  state.lastSpace += 1;
  return space;
}

/** Finds an open space. Throws `MockServerError` with code `not_found`. */
export function findSpace({ spaces }: MockCore, name: string): MockCore {
  return withId('space', name, { among: spaces, otherwise: 'is closed' });
}

/** The rates are those of the mock. The keys are unique, and do not depend on the order of tests. */
function namedState(seed: number, name: string): ServiceState {
  const ownSeed = Number.parseInt(hashOf(`${seed} ${name}`).slice(0, 12), 16);
  return { ...emptyState(seed), random: randomFromSeed(ownSeed) };
}
