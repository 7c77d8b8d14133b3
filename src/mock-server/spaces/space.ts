import type { PlanName } from '../../generated/service.ts';
import type { BehaviourOptions } from '../behaviour/behaviour-options.ts';
import type { PresetName } from '../behaviour/presets.ts';
import type { ClockOptions } from '../clock/clock.ts';
import type { MockServer } from '../mock-server.ts';

export interface SpaceOptions {
  /** Decides the key, whatever else happens in the mock. Letters, digits, `_` and `-`. Default: `space_1`, … */
  readonly name?: string | undefined;
  /** Of its account. Default: `'free'`. */
  readonly plan?: PlanName | undefined;
  /** Default: like the clock of the mock, from its time on. */
  readonly clock?: 'real' | 'virtual' | ClockOptions | undefined;
  /** Switches of its own, on top of those that the mock has now. */
  readonly behaviour?: PresetName | BehaviourOptions | undefined;
}

/**
 * A part of a mock for one test: an account and its key, with counters, clock, switches, faults, handlers and journal
 * of their own. Requests belong to a space by the key they carry, whichever adapter they come by; those without a key, or
 * with one that is nobody's, are the mock's own.
 */
export interface Space extends Scope, AsyncDisposable {
  readonly name: string;
  /** The whole API key. */
  readonly key: string;
  readonly keyId: string;
  readonly accountId: string;
  /** Ends the space: its keys are unknown from then on. */
  close(): Promise<void>;
}

/** What a space has of a mock. `fetch` asks the space alone, `reset()` leaves it its account and key. */
export type Scope = Pick<
  MockServer,
  | 'baseUrl'
  | 'fetch'
  | 'accounts'
  | 'keys'
  | 'outbox'
  | 'clock'
  | 'behaviour'
  | 'journal'
  | 'faults'
  | 'createKey'
  | 'expectRequests'
  | 'audit'
  | 'clientOptions'
  | 'use'
  | 'snapshot'
  | 'restore'
  | 'snapshots'
> & { reset(): void };
