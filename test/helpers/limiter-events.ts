import fc from 'fast-check';
import { type Grant, grant } from '../../src/client/limits/grant.ts';
import type { LimiterState } from '../../src/client/limits/limiter-state.ts';
import {
  applyReport,
  configured,
  initialState,
  type RequestResult,
  type RetryAfterReading,
  readRetryAfter,
} from '../../src/client/limits/transitions.ts';

/** The events of a limiter. A response belongs to a request in flight; if there is none, it is ignored. */
export type LimiterEvent =
  | { readonly kind: 'ask'; readonly wanted: number }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'accepted' | 'lost' | 'unused'; readonly place: number; readonly isDated: boolean }
  | { readonly kind: 'refused'; readonly place: number; readonly isDated: boolean; readonly retryAfter?: string }
  | { readonly kind: 'configured'; readonly perMinute: number };

const place = fc.nat({ max: 1_000 });
const isDated = fc.boolean();

/** `retryAfter`: the header of a refusal. */
export function limiterEvents(retryAfter: readonly (string | undefined)[]): fc.Arbitrary<LimiterEvent[]> {
  const ask = fc.record({ kind: fc.constant('ask' as const), wanted: fc.integer({ min: 1, max: 40 }) });
  const time = fc.record({
    kind: fc.constant('time' as const),
    ms: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 5_000 }), fc.nat({ max: 130_000 })),
  });
  const kind = fc.constantFrom(
    'accepted' as const,
    'accepted' as const,
    'accepted' as const,
    'lost' as const,
    'unused' as const,
  );
  const result = fc.record({ kind, place, isDated });
  const refusal = fc.record({
    kind: fc.constant('refused' as const),
    place,
    isDated,
    retryAfter: fc.constantFrom(...retryAfter),
  }) as fc.Arbitrary<LimiterEvent>;
  const configure = fc.record({
    kind: fc.constant('configured' as const),
    perMinute: fc.integer({ min: 1, max: 300 }),
  });
  const event = fc.oneof(
    { weight: 6, arbitrary: ask },
    { weight: 4, arbitrary: time },
    { weight: 12, arbitrary: result },
    { weight: 4, arbitrary: refusal },
    { weight: 1, arbitrary: configure },
  );
  return fc.array(event, { maxLength: 150, size: 'max' });
}

/** The result of an event. */
export interface Outcome {
  readonly grant?: Grant;
  readonly reading?: RetryAfterReading;
}

const UNIT_OPTIONS = { maxRetryAfterMs: 65_000, retryAfterUnit: 'auto' } as const;

/** A limiter's state with its requests in flight. Applies events as a process would report them. */
export class LimiterProcess {
  state: LimiterState;
  now = 1_700_000_000_000;
  readonly #mayProbe: boolean;
  #inFlight: Pick<RequestResult, 'sentAt' | 'isProbe'>[] = [];

  constructor(perMinute: number, { mayProbe = true } = {}) {
    this.state = initialState(perMinute);
    this.#mayProbe = mayProbe;
  }

  get inFlight(): number {
    return this.#inFlight.length;
  }

  apply(event: LimiterEvent): Outcome {
    if (event.kind === 'time') this.now += event.ms;
    else if (event.kind === 'ask') return { grant: this.ask(event.wanted) };
    else if (event.kind === 'configured') this.state = configured(this.state, event.perMinute, this.now);
    else return this.#result(event);
    return {};
  }

  ask(wanted: number): Grant {
    const granted = grant(this.state, { now: this.now, wanted, mayProbe: this.#mayProbe });
    this.state = granted.state;
    const { count, isProbe } = granted.grant;
    for (let call = 0; call < count; call += 1) this.#inFlight.push({ sentAt: this.now, isProbe });
    return granted.grant;
  }

  #result(event: Extract<LimiterEvent, { readonly place: number }>): Outcome {
    const [request] = this.#inFlight.splice(event.place % Math.max(1, this.#inFlight.length), 1);
    if (!request) return {};
    const date = event.isDated ? new Date(this.now).toUTCString() : undefined;
    const result = { ...request, now: this.now, date };
    const report = { kind: event.kind, ...result, retryAfter: event.kind === 'refused' ? event.retryAfter : undefined };
    const before = this.state;
    this.state = applyReport(before, report, UNIT_OPTIONS);
    return event.kind === 'refused' ? { reading: readRetryAfter(before, report, UNIT_OPTIONS).reading } : {};
  }
}
