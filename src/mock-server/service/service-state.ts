import * as z from 'zod';
import { type PlanName, plans } from '../../generated/service.ts';
import { keyGenerations } from '../../process-state.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { expected, strictObject, type ValueOf, wholeFrom } from '../input/checked-input.ts';
import { type Random, randomFromSeed } from './random.ts';
import type { RateWindow } from './rate-windows.ts';

const PLAN_NAMES = Object.keys(plans) as [PlanName, ...PlanName[]];
export const planName = expected(`one of ${PLAN_NAMES.join(', ')}`, z.enum(PLAN_NAMES));

const text = z.string();
const count = wholeFrom(0);
/** A period can begin before 1970, where the mock's clock starts at the earliest. */
const savedTime = expected('milliseconds since the Unix epoch', z.number().min(-LATEST_MS).max(LATEST_MS));
/** Times and numbers of requests. */
const savedWindow = z.array(savedTime).optional();

/** The units of a window stay whole numbers that JavaScript represents exactly. */
const MOST_REQUESTS = 1_000_000;
const LONGEST_WINDOW_MS = 86_400_000;

export const keyLimitOptions = strictObject({
  /**
   * Requests per window.
   * @default the per-minute limit of the plan
   */
  requests: expected(`a whole number from 1 to ${MOST_REQUESTS}`, z.int().min(1).max(MOST_REQUESTS)).optional(),
  /**
   * Length of the window in milliseconds.
   * @default 60_000
   */
  windowMs: expected(
    `whole milliseconds from 1 to ${LONGEST_WINDOW_MS}, a day`,
    z.int().min(1).max(LONGEST_WINDOW_MS),
  ).optional(),
  /**
   * Requests per month.
   * @default the quota of the plan
   */
  monthly: wholeFrom(0).optional(),
});

/** Limits of one key, in place of those of its plan. */
export interface KeyLimitOptions extends ValueOf<typeof keyLimitOptions> {}

/** The records of the state as a snapshot has them. */
export const savedAccount = z.strictObject({
  id: text,
  email: text,
  createdAt: savedTime,
  plan: planName,
  isConfirmed: z.boolean(),
});

export const savedKey = z.strictObject({
  id: text,
  accountId: text,
  /** SHA-256 of the key, in hexadecimal. */
  hash: expected('64 hexadecimal digits', text.regex(/^[0-9a-f]{64}$/)),
  prefix: text,
  lastFour: text,
  createdAt: savedTime,
  revokedAt: savedTime.optional(),
  /** Start of the quota period that `used` counts in. */
  usedFrom: savedTime.optional(),
  used: count,
  window: savedWindow,
  quotaEndpointWindow: savedWindow,
  limits: keyLimitOptions.optional(),
  /** Time at which the last Retry-After ends. An earlier request did not wait for it. */
  retryAt: savedTime,
  /** The same for the quota endpoint. */
  quotaEndpointRetryAt: savedTime.optional(),
});

export const counters = z.object({
  /** Number of the newest account. */
  lastAccount: count,
  /** Number of the newest key. */
  lastKey: count,
  /** Number of the newest space. */
  lastSpace: count,
});

/** An account in the state of the service. */
export interface AccountRecord extends z.output<typeof savedAccount> {
  /** In the order of their creation. */
  keys: KeyRecord[];
  /** How many of them are not revoked. */
  activeKeys: number;
}

/** A key in the state of the service, without the key itself. It is small, because a mock can have a million keys. */
export interface KeyRecord extends Omit<z.output<typeof savedKey>, 'accountId' | 'window' | 'quotaEndpointWindow'> {
  readonly account: AccountRecord;
  /** Created by the first request. */
  window: RateWindow | undefined;
  /** The separate window of the quota endpoint, if the switch defines one. */
  quotaEndpointWindow: RateWindow | undefined;
  /** Whether a request had it since the start or the last `restore()`. Only then does a client know of it. */
  wasUsed: boolean;
}

/** The state of one emulated service. */
export interface ServiceState extends z.output<typeof counters> {
  readonly accounts: Map<string, AccountRecord>;
  readonly keys: Map<string, KeyRecord>;
  readonly keysByHash: Map<string, KeyRecord>;
  /** Determines the invented rates and the start of `random`. */
  seed: number;
  random: Random;
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
    lastSpace: 0,
  };
}

/** Empties the windows of the per-minute limit of a key. */
export function clearMinute(key: KeyRecord): void {
  key.window = undefined;
  key.quotaEndpointWindow = undefined;
}

/** Sets the usage of the quota period of a key to zero. */
export function clearMonth(key: KeyRecord): void {
  key.used = 0;
  key.usedFrom = undefined;
}

/** Clients in this process forget what they know of the keys, such as a month that was used up. */
export function renewKeys({ keys }: Pick<ServiceState, 'keys'>): void {
  const generations = keyGenerations();
  for (const { hash, wasUsed } of keys.values()) if (wasUsed) generations.set(hash, (generations.get(hash) ?? 0) + 1);
}
