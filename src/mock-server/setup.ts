import type { PlanName } from '../generated/service.ts';
import { isJson, isJsonObject } from '../json-object.ts';
import type { BehaviourOptions, MockBehaviour } from './behaviour/behaviour.ts';
import type { PresetName } from './behaviour/switch.ts';
import type { FaultOptions } from './faults/fault-kinds.ts';
import type { MockFaults } from './faults/mock-faults.ts';
import { hashOf } from './http/parse-request.ts';
import type { RequestPattern } from './matching/request-pattern.ts';
import { checkOptionNames, invalidOption, within } from './mock-server-error.ts';
import type { CreatedKey, Keys, SetUsage } from './service/keys.ts';
import type { ServiceState } from './service/service-state.ts';
import { jsonParts, unquoted, withDigits } from './stubs/json-parts.ts';
import type { LatestData, MockLatest } from './stubs/mock-latest.ts';
import type { MockStubs } from './stubs/mock-stubs.ts';
import type { Replay } from './stubs/replay.ts';
import type { LatestFunction, StubOptions } from './stubs/stub-schemas.ts';

/** Keys, switches, responses and faults, as in a file for `fxrates mock --setup`. */
export interface Setup {
  /**
   * Keys to create, each with a confirmed account of its own. The first is the key of `fxrates mock`.
   * @default none
   */
  readonly keys?: readonly SetupKey[] | undefined;
  /**
   * Switches to change: a preset, or values as in `mock.behaviour.set()`.
   * @default unchanged
   * @example { quotaExhausted: '402 quota_exceeded' }
   */
  readonly behaviour?: PresetName | BehaviourOptions | undefined;
  /**
   * The `data` of `latest` for every query. An array has one element per request; the last one repeats.
   * @default unchanged
   * @example { base: 'EUR', rates: { USD: 1.1 } }
   */
  readonly latest?: Exclude<LatestData, LatestFunction> | undefined;
  /**
   * Responses of `latest` by query, as in the option `replay`. Cannot be combined with `latest`.
   * @default unchanged
   * @example { 'base=EUR': { base: 'EUR', rates: { USD: 1.1 } }, '*': { base: 'USD', rates: { EUR: 0.9 } } }
   */
  readonly replay?: Replay | undefined;
  /**
   * Stubs to add, as with `mock.stubs.add()`.
   * @default none
   */
  readonly stubs?: readonly StubOptions[] | undefined;
  /**
   * Faults to add, as with `mock.faults.add()`.
   * @default none
   */
  readonly faults?: readonly FaultOptions[] | undefined;
  /** Ignored by the mock. Editors read it. */
  readonly $schema?: string | undefined;
}

/** A key of a setup. */
export interface SetupKey {
  /**
   * Plan of the account.
   * @default 'free'
   */
  readonly plan?: PlanName | undefined;
  /**
   * Usage of both limits, as in `mock.keys.setUsage()`.
   * @default nothing is used
   */
  readonly usage?: SetUsage | undefined;
  /**
   * Whether the key is revoked: requests with it fail.
   * @default false
   */
  readonly revoked?: boolean | undefined;
}

/** The result of `mock.setUp()`. */
export interface SetupResult {
  /** The created keys, in the order of the setup. */
  readonly keys: readonly CreatedKey[];
}

/** What a setup changes: a mock or a space of it. */
export interface SetupTarget {
  readonly behaviour: MockBehaviour;
  readonly keys: Keys;
  readonly latest: MockLatest;
  readonly stubs: MockStubs;
  readonly faults: MockFaults;
  createKey(options: Pick<SetupKey, 'plan'>): CreatedKey;
}

const FIELDS: readonly (keyof Setup)[] = ['keys', 'behaviour', 'latest', 'replay', 'stubs', 'faults', '$schema'];

/** Applies a setup, or JSON text of one. If it throws, a part of the setup may have been applied. */
export function applySetup(given: Setup | string, target: SetupTarget): SetupResult {
  const setup = checkedSetup(given);
  const { behaviour, latest, replay, stubs, faults } = setup;
  // The usage of a key depends on switches; stubs and faults can name keys.
  if (behaviour !== undefined) target.behaviour.set(behaviour);
  const keys = addAll('keys', setup.keys, (key) => createSetupKey(key, target));
  if (latest !== undefined) target.latest.set(latest);
  if (replay !== undefined) target.latest.replay(replay);
  const taken = latest === undefined && replay === undefined ? [] : ['latest'];
  addOnce('stubs', stubs, { add: target.stubs.add, taken });
  addOnce('faults', faults, { add: target.faults.add });
  return { keys };
}

/** A setup with valid names of fields. Its parts are checked when they are applied. */
export function checkedSetup(given: Setup | string): Setup {
  const setup = typeof given === 'string' ? parsedSetup(given.trim()) : given; // trim() also removes a byte order mark
  if (!isJsonObject(setup)) throw invalidOption('setup', setup, 'an object');
  checkOptionNames(setup, { what: 'a field of a setup', known: FIELDS });
  const { latest, replay } = setup;
  if (latest !== undefined && replay !== undefined) {
    throw invalidOption('replay', replay, 'either latest or replay, not both');
  }
  return setup;
}

/** The setup in a JSON text. The digits of numbers in responses stay as they are. */
function parsedSetup(json: string): Setup {
  if (!isJson(json)) throw invalidOption('setup', json, 'a setup as JSON');
  const setup: Setup = JSON.parse(json);
  // A value that is not an object is refused as it is.
  if (!isJsonObject(setup)) return setup;
  const exact: { latest?: string; replay?: string; stubs?: StubOptions[] } = {};
  for (const { name, text } of jsonParts(json)) {
    if (name === 'latest' || name === 'replay') exact[name] = unquoted(text);
    if (name === 'stubs' && Array.isArray(setup.stubs)) exact.stubs = jsonParts(text).map(exactStub);
  }
  return { ...setup, ...exact };
}

function exactStub({ text }: { readonly text: string }): StubOptions {
  return withDigits(JSON.parse(text), text);
}

function addAll<Entry, Added>(
  field: keyof Setup,
  entries: readonly Entry[] = [],
  add: (entry: Entry) => Added,
): readonly Added[] {
  if (!Array.isArray(entries)) throw invalidOption(field, entries, 'an array');
  return entries.map((entry, index) => within(`${field}[${index}]`, () => add(entry)));
}

interface AddOnce<Entry> {
  readonly add: (entry: Entry) => { readonly id: string };
  /** Ids that other parts of the setup have used. */
  readonly taken?: readonly string[];
}

/** Within one setup, a second stub or fault of the same id would silently replace the first. */
function addOnce<Entry>(
  field: 'stubs' | 'faults',
  entries: readonly Entry[] | undefined,
  { add, taken = [] }: AddOnce<Entry>,
): void {
  const ids = new Set(taken);
  addAll(field, entries, (entry) => {
    const { id } = add(entry);
    if (ids.has(id)) throw invalidOption('id', id, `an id of its own among the ${field} of the setup`);
    ids.add(id);
  });
}

function createSetupKey(key: SetupKey, target: SetupTarget): CreatedKey {
  checkOptionNames(key, { what: 'a field of a key', known: ['plan', 'usage', 'revoked'] });
  const { plan, usage, revoked = false } = key;
  if (typeof revoked !== 'boolean') throw invalidOption('revoked', revoked, 'true or false');
  const created = target.createKey({ plan });
  if (usage !== undefined) within('usage', () => target.keys.setUsage(created.id, usage));
  if (revoked) target.keys.revoke(created.id);
  return created;
}

/** Stubs and faults, and the numbers of the newest ones. */
type StubsAndFaults = Pick<ServiceState, 'stubs' | 'lastStub' | 'faults' | 'lastFault'>;

/** The target of the option `setup`: a mock and its state. */
interface SetupOwner {
  readonly mock: SetupTarget;
  readonly state: ServiceState;
}

/**
 * The option `setup` of a mock, which a reset applies again. Stubs and faults were checked at the start. A reset copies them,
 * so that it cannot fail for an adapter in use.
 */
export class InitialSetup {
  #added: StubsAndFaults = { stubs: [], lastStub: 0, faults: [], lastFault: 0 };
  #keys: readonly { readonly settings: SetupKey; readonly hash: string }[] = [];

  /** Applies the setup to a new mock, except its switches, with which the mock was created. Returns its keys. */
  apply(setup: Setup, { mock, state }: SetupOwner): readonly CreatedKey[] {
    const { keys } = applySetup({ ...setup, behaviour: undefined }, mock);
    const { stubs, lastStub, faults, lastFault } = state;
    this.#added = { stubs, lastStub, faults, lastFault };
    const settings = structuredClone(setup.keys ?? []);
    this.#keys = keys.map(({ key }, index) => ({ settings: settings[index] ?? {}, hash: hashOf(key) }));
    return keys;
  }

  /** The stubs and faults for a new state of the mock, unused. */
  stubsAndFaults(now: number): StubsAndFaults {
    const { stubs, faults, ...last } = this.#added;
    return {
      ...last,
      stubs: stubs.map((stub) => ({ ...stub, served: 0 })),
      faults: faults.map((fault) => ({ ...fault, addedAt: now, matched: 0, struck: 0, matchedByKey: new Map() })),
    };
  }

  /** As `stubsAndFaults`, for a space: without those for one key, because a space does not have the keys of the mock. */
  stubsAndFaultsOfSpace(now: number): StubsAndFaults {
    const { stubs, faults, ...last } = this.stubsAndFaults(now);
    const isForAnyKey = ({ match }: { readonly match?: RequestPattern | undefined }) => match?.keyId === undefined;
    return {
      ...last,
      stubs: stubs.filter(isForAnyKey),
      faults: faults.filter(({ settings }) => isForAnyKey(settings)),
    };
  }

  /** After a reset: creates the keys again, or sets the usage of those that were kept. */
  restoreKeys({ mock, state }: SetupOwner, { keepKeys = false }: { readonly keepKeys?: boolean | undefined }): void {
    for (const { settings, hash } of this.#keys) {
      if (!keepKeys) createSetupKey(settings, mock);
      const kept = keepKeys ? state.keysByHash.get(hash) : undefined;
      if (kept !== undefined) restoreUsage(kept.id, settings, mock);
    }
  }
}

function restoreUsage(keyId: string, { usage }: SetupKey, { keys }: SetupTarget): void {
  if (usage === undefined) return;
  // The plan may have changed since.
  const { limit } = keys.get(keyId).minute;
  keys.setUsage(keyId, usage.minute === undefined ? usage : { ...usage, minute: Math.min(usage.minute, limit) });
}
