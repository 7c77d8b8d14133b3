import { MockServerError } from '../mock-server-error.ts';
import type { ServiceContext, ServiceState } from '../service/service-state.ts';
import { type StubOptions, stubFrom } from './stub-options.ts';
import { type StubAnswer, type StubRecord, withStub } from './stub-record.ts';

/** Answers that a test chooses, as users add and remove them. */
export interface MockStubs {
  /**
   * Adds a stub, from the next request on; of several that match, the last one added answers. Throws `MockServerError`
   * with code `invalid_option`.
   * @example mock.stubs.add({ match: { query: { base: 'XXX' } }, status: 422, error: { code: 'unknown_currency' } })
   */
  add(stub: StubOptions): Stub;
  /** Those that can still answer, the first to be asked last. */
  list(): readonly Stub[];
  /** Throws `MockServerError` with code `not_found`. */
  remove(id: string): void;
  /** Removes all, also those of `mock.latest`. */
  clear(): void;
}

/** A stub as it stands. */
export interface Stub extends Pick<StubRecord, 'id' | 'match' | 'served'> {
  /** How many requests it answers; `undefined` for all. */
  readonly times: number | undefined;
  /** `answers`: those in `answers`; `replay`: recorded ones; `function`: what a function of the test returns. */
  readonly kind: StubRecord['source']['kind'];
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
  return new MockServerError(`There is no stub ${id}; it may have run out.`, { code: 'not_found', status: 404 });
}
