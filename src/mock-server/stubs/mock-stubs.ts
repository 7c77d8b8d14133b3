import { MockServerError } from '../mock-server-error.ts';
import type { ServiceContext, ServiceState } from '../service/service-state.ts';
import { type StubOptions, stubFrom } from './stub-options.ts';
import { type StubAnswer, type StubRecord, withStub } from './stub-record.ts';

/** Adds and removes stubs: answers that the test defines. */
export interface MockStubs {
  /**
   * Adds a stub that applies from the next request on. If several stubs match, the one added last answers.
   * @throws MockServerError with code `invalid_option`.
   * @example mock.stubs.add({ match: { query: { base: 'XXX' } }, status: 422, error: { code: 'unknown_currency' } })
   */
  add(stub: StubOptions): Stub;
  /** Returns the stubs that can still answer. Of those that match a request, the last one answers. */
  list(): readonly Stub[];
  /**
   * Removes a stub.
   * @throws MockServerError with code `not_found`.
   */
  remove(id: string): void;
  /** Removes all stubs, including the answers of `mock.latest`. */
  clear(): void;
}

/** A stub that was added. */
export interface Stub extends Pick<StubRecord, 'id' | 'match' | 'served'> {
  /** Maximum number of requests to answer; `undefined` for no maximum. */
  readonly times: number | undefined;
  /** Source of the answers: the field `answers`, a recording, or a function of the test. */
  readonly kind: StubRecord['source']['kind'];
  /** The answers of a stub of kind `answers`; empty otherwise. */
  readonly answers: readonly StubAnswer[];
}

export function createMockStubs(context: ServiceContext): MockStubs {
  // The state is replaced by `restore()` and `reset()`: never kept.
  const current = () => context.state.stubs.filter(({ times, served }) => times === null || served < times);
  return {
    add(options) {
      const { state } = context;
      const stub = stubFrom(options, nextId(state));
      state.stubs = withStub(current(), stub);
      state.lastStub += 1;
      return toStub(stub);
    },
    list: () => current().map(toStub),
    remove(id) {
      const others = current().filter((stub) => stub.id !== id);
      if (others.length === current().length) throw notFound(id);
      context.state.stubs = others;
    },
    clear() {
      context.state.stubs = [];
    },
  };
}

function nextId({ lastStub, stubs }: ServiceState): string {
  let number = lastStub + 1;
  while (stubs.some(({ id }) => id === `stub_${number}`)) number += 1;
  return `stub_${number}`;
}

function toStub({ id, match, times, served, source }: StubRecord): Stub {
  const answers = source.kind === 'answers' ? source.answers : [];
  return structuredClone({ id, match, times: times ?? undefined, served, kind: source.kind, answers });
}

function notFound(id: string): MockServerError {
  return new MockServerError(`Stub ${id} does not exist or has expired; mock.stubs.list() has the current ones.`, {
    code: 'not_found',
    status: 404,
  });
}
