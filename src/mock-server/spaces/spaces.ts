import type { HandleRequest } from '../handle-request.ts';
import type { MockRequest } from '../http/mock-message.ts';
import { presentedKeys } from '../http/presented-credential.ts';
import { parseTarget } from '../http/router.ts';
import type { Journal } from '../journal/journal.ts';
import type { MockServer } from '../mock-server.ts';
import { invalidOption, MockServerError, show } from '../mock-server-error.ts';
import { hashOf } from '../service/keys.ts';
import type { ServiceState } from '../service/service-state.ts';
import type { Space, SpaceOptions } from './space.ts';

/** A space with what it is made of: a mock of its own, behind the door of the one it belongs to. */
export interface LiveSpace {
  readonly space: Space;
  readonly mock: MockServer;
  readonly journal: Journal;
  readonly handleRequest: HandleRequest;
  readonly state: ServiceState;
}

/** Makes the space of this name. */
type MakeSpace = (name: string, options: SpaceOptions, close: () => void) => LiveSpace;

/** The spaces of one mock that live, and which of them a request is for. */
export class Spaces {
  readonly #live = new Map<string, LiveSpace>();
  readonly #state: ServiceState;
  readonly #make: MakeSpace;

  constructor(state: ServiceState, make: MakeSpace) {
    this.#state = state;
    this.#make = make;
  }

  get names(): readonly string[] {
    return Array.from(this.#live.keys());
  }

  open(options: SpaceOptions): Space {
    const name = options.name === undefined ? this.#nextName() : checkedName(options.name);
    if (this.#live.has(name)) {
      const text = `There is a space ${name} already; close it first, or take another name.`;
      throw new MockServerError(text, { code: 'space_exists', status: 409 });
    }
    const live = this.#make(name, options, () => {
      if (this.#live.get(name) === live) this.#live.delete(name);
    });
    this.#live.set(name, live);
    this.#state.lastSpace += 1;
    return live.space;
  }

  /** Throws `MockServerError` with code `not_found`. */
  find(name: string): LiveSpace {
    const live = this.#live.get(name);
    if (live !== undefined) return live;
    const text = `There is no space ${show(name)}; it may be closed. mock.space() makes one.`;
    throw new MockServerError(text, { code: 'not_found', status: 404 });
  }

  /** What answers a request: the space whose key it carries; `undefined` for none. */
  handlerFor(request: MockRequest): HandleRequest | undefined {
    if (this.#live.size === 0) return undefined;
    for (const key of presentedKeys(request, parseTarget(request.target).query)) {
      const hash = hashOf(key);
      // The mock's own keys first, so that they cost no more with many spaces.
      if (this.#state.keysByHash.has(hash)) return undefined;
      for (const { state, handleRequest } of this.#live.values()) if (state.keysByHash.has(hash)) return handleRequest;
    }
    return undefined;
  }

  /** Refuses what would pull the mock from under the tests that run in its spaces. */
  refuseWhileLive(act: string): void {
    if (this.#live.size === 0) return;
    throw new MockServerError(
      `${act} would disturb the spaces that live (${this.names.join(', ')}); reset those, or close them first.`,
      { code: 'spaces_live', status: 409 },
    );
  }

  async closeAll(): Promise<void> {
    await Promise.all(Array.from(this.#live.values(), ({ space }) => space.close()));
  }

  #nextName(): string {
    let number = this.#state.lastSpace + 1;
    while (this.#live.has(`space_${number}`)) number += 1;
    return `space_${number}`;
  }
}

function checkedName(name: unknown): string {
  if (typeof name === 'string' && /^[\w-]{1,64}$/.test(name)) return name;
  throw invalidOption('name', name, 'up to 64 letters, digits, _ and -');
}
