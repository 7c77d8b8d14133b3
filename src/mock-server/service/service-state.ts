import type { PlanName } from '../../generated/service.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { FaultRecord } from '../faults/fault-kinds.ts';
import type { StubRecord } from '../stubs/stub-schemas.ts';
import { type Random, randomFrom, randomFromSeed } from './random.ts';
import type { RateWindow } from './rate-windows.ts';

/** An account in the state of the service. */
export interface AccountRecord {
  readonly id: string;
  readonly email: string;
  readonly createdAt: number;
  plan: PlanName;
  isConfirmed: boolean;
  /** In the order of their creation. */
  keys: KeyRecord[];
  /** How many of them are not revoked. */
  activeKeys: number;
}

/** A key in the state of the service, without the key itself. It is small, because a mock can have a million keys. */
export interface KeyRecord {
  readonly id: string;
  readonly account: AccountRecord;
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAt: number;
  revokedAt: number | undefined;
  /** Start of the quota period that `used` counts in. */
  usedFrom: number | undefined;
  used: number;
  /** Created by the first request. */
  window: RateWindow | undefined;
  /** The separate window of the quota endpoint, if the switch defines one. */
  quotaEndpointWindow: RateWindow | undefined;
  /** Time at which the last Retry-After ends. An earlier request did not wait for it. */
  retryAt: number;
}

/** A confirmation e-mail in the state of the service. */
export interface MailRecord {
  readonly id: string;
  readonly accountId: string;
  readonly to: string;
  readonly sentAt: number;
}

/** The state of one emulated service. */
export interface ServiceState {
  readonly accounts: Map<string, AccountRecord>;
  readonly keys: Map<string, KeyRecord>;
  readonly keysByHash: Map<string, KeyRecord>;
  /** Determines the invented rates and the start of `random`. */
  seed: number;
  random: Random;
  lastAccount: number;
  lastKey: number;
  /** Oldest first. */
  mails: MailRecord[];
  lastMail: number;
  /** In the order they were added. */
  faults: readonly FaultRecord[];
  lastFault: number;
  lastSpace: number;
  /** Of those that match a request, the last one applies. */
  stubs: readonly StubRecord[];
  lastStub: number;
}

/** The state of the service, the switches and the time. */
export interface ServiceContext {
  readonly state: ServiceState;
  readonly behaviour: Behaviour;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

export function emptyState(seed: number): ServiceState {
  const random = randomFromSeed(seed);
  return {
    accounts: new Map(),
    keys: new Map(),
    keysByHash: new Map(),
    seed,
    random,
    lastAccount: 0,
    lastKey: 0,
    mails: [],
    lastMail: 0,
    faults: [],
    lastFault: 0,
    lastSpace: 0,
    stubs: [],
    lastStub: 0,
  };
}

/**
 * Returns a function that restores the state as it is now, after additions and after changes of per-minute windows. It does
 * not restore other fields of accounts and keys.
 */
export function saveState(state: ServiceState): () => void {
  const saved = {
    ...state,
    accounts: new Map(state.accounts),
    keys: new Map(state.keys),
    keysByHash: new Map(state.keysByHash),
    random: randomFrom(state.random.save()),
  };
  const windows = Array.from(state.keys.values(), (key) => [key, key.window, key.quotaEndpointWindow] as const);
  return () => {
    Object.assign(state, saved);
    for (const [key, window, quotaEndpointWindow] of windows) Object.assign(key, { window, quotaEndpointWindow });
  };
}

/** Sets the use of all keys to zero, and returns the accounts and keys. A key that is revoked stays revoked at `now`. */
export function resetKeyUse(state: ServiceState, now: number): Partial<ServiceState> {
  const { accounts, keys, keysByHash, lastAccount, lastKey, random } = state;
  for (const key of keys.values()) {
    key.used = 0;
    key.usedFrom = undefined;
    key.window = undefined;
    key.quotaEndpointWindow = undefined;
    key.retryAt = 0;
    if (key.revokedAt !== undefined) key.revokedAt = Math.min(key.revokedAt, now);
  }
  return { accounts, keys, keysByHash, lastAccount, lastKey, random };
}
