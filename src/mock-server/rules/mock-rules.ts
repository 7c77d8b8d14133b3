import { isJsonObject, members, parseJson } from '../../json.ts';
import type { ResponseDelays } from '../clock/response-delays.ts';
import type { AdapterName } from '../http/message.ts';
import { isAdminPath } from '../http/parse-request.ts';
import { checkedInput, eachOf } from '../input/checked-input.ts';
import {
  checkId,
  checkLength,
  freeName,
  type Ids,
  invalidOption,
  MockServerError,
  show,
  withId,
  within,
} from '../input/mock-server-error.ts';
import { memberText, preparedAnswers } from './answers.ts';
import { changesResponse, checkAdapterSupport, checkFailure } from './failures.ts';
import {
  EFFECTS,
  type Rule,
  type RuleMatch,
  type RuleOptions,
  type RuleRecord,
  type RuleState,
  ruleOptions,
  type SavedRule,
} from './rule-schema.ts';

/** Adds and removes rules: responses, delays and failures that the test defines. */
export interface MockRules {
  /**
   * Adds a rule that applies from the next request on. If several rules match, the one added last determines a response, a
   * delay or a failure; what it does not define, the next one or the service does. The rules of `mock.latest` lie below.
   * @throws MockServerError with code `invalid_option`; `rule_not_possible`, if an adapter in use cannot do what the rule asks.
   * @example mock.rules.add({ nth: 1, respond: { status: 503 } })
   */
  add(rule: RuleOptions): Rule;
  /** Returns the rules; of those that match a request, the last one counts. Includes those that have ended. */
  list(): readonly Rule[];
  /**
   * Returns a rule.
   * @throws MockServerError with code `not_found`.
   */
  get(id: string): Rule;
  /**
   * Removes a rule. When a rule with `fail: { kind: 'hang' }` is removed or ends, the requests that it blocks end without a
   * response.
   * @throws MockServerError with code `not_found`.
   */
  remove(id: string): void;
  /** Removes all rules, including those of `mock.latest`. */
  clear(): void;
}

/** What the rules of a mock need of it. */
export interface RuleContext {
  readonly state: RuleState;
  readonly now: () => number;
  readonly adapters: { readonly inUse: readonly AdapterName[] };
  readonly delays: ResponseDelays;
}

export function createMockRules(context: RuleContext): MockRules {
  const { state } = context;
  const find = (id: string) => withId('rule', id, new Map(state.rules.map((rule) => [rule.id, rule])));
  return {
    add(given) {
      const checked = checkedRuleText(given);
      checkAdapterSupport(checked, context.adapters.inUse);
      checkKeyId(checked, state.keys);
      const [rule] = addRules(context, [checked]);
      return toRule(rule as RuleRecord); // one for each
    },
    list: () => state.rules.map(toRule),
    get: (id) => toRule(find(id)),
    remove(id) {
      find(id);
      removeRules(context, (other) => other === id);
    },
    clear: () => removeRules(context, () => true),
  };
}

type ChangedRules = Pick<RuleContext, 'state' | 'delays' | 'now'>;

/**
 * Adds checked rules, each in the place of an older one of its id. A request that hangs because of that one ends. A rule
 * without an id gets one that no other rule has had.
 */
export function addRules({ state, delays, now }: ChangedRules, added: readonly CheckedRule[]): readonly RuleRecord[] {
  const rules = new Map(state.rules.map((rule) => [rule.id, rule]));
  for (const { id } of added) if (id !== undefined) state.ruleIds.add(id);
  const addedAt = now();
  const records = added.map((rule) => {
    state.lastRule += 1;
    const { id = freeName('rule', state.lastRule, (name) => state.ruleIds.has(name)) } = rule;
    const hasFunction = typeof rule.respond === 'function';
    const record = { ...rule, id, addedAt, matched: 0, used: 0, hasFunction, matchedByKey: {} };
    if (rules.has(id)) delays.endHangsOf(id);
    rules.set(id, record);
    state.ruleIds.add(id);
    return record;
  });
  state.rules = Array.from(rules.values()).sort((one, other) => rankOf(one.id) - rankOf(other.id));
  return records;
}

/** The rule of `mock.latest` for every query; those for one base have its id and the base. */
export const LATEST = 'latest';
/** The lowest rule of a recording; the others have its id and a number. */
export const RECORDED = 'recorded';

/** The place of a rule among the others: those for every query of `latest` lie below those for one base, below all others. */
function rankOf(id: string): number {
  if (id === RECORDED || id === LATEST) return 0;
  if (isRecorded(id)) return 1;
  return isLatest(id) ? 2 : 3;
}

/** Whether a rule is one of `mock.latest`. */
export function isLatest(id: string): boolean {
  return id === LATEST || id.startsWith(`${LATEST}.`) || isRecorded(id);
}

/** Whether a rule is one of a recording, of which a test need not use every response. */
export function isRecorded(id: string): boolean {
  return id === RECORDED || id.startsWith(`${RECORDED}.`);
}

/** Removes the rules with these ids. The requests that hang because of one end. */
export function removeRules({ state, delays }: Omit<ChangedRules, 'now'>, isMeant: (id: string) => boolean): void {
  for (const { id } of state.rules) if (isMeant(id)) delays.endHangsOf(id);
  state.rules = state.rules.filter(({ id }) => !isMeant(id));
}

/** Rules of a setup, of the option `rules`, or of a recording, checked apart from their keys. `json`: their text. */
export function checkedRules(given: readonly unknown[], json = ''): readonly CheckedRule[] {
  checkLength('rules', given, MOST_RULES);
  const ids = new Set<string>();
  const texts = Array.from(members(json), ({ text }) => text);
  return eachOf('rules', given, (options, index) => {
    const rule = checkedRule(options, texts[index]);
    const { id } = rule;
    if (id !== undefined && ids.has(id)) throw invalidOption('id', id, 'an id of its own among the rules');
    if (id !== undefined) ids.add(id);
    return rule;
  });
}

/** Throws for rules for a key that is not among those of their mock. */
export function checkKeyIds(rules: readonly CheckedRule[], keyIds: Ids): void {
  eachOf('rules', rules, (rule) => checkKeyId(rule, keyIds));
}

function checkKeyId({ match }: CheckedRule, keyIds: Ids): void {
  within('match', () => checkId('key', 'keyId', match.keyId, keyIds));
}

/** Of a setup: each request is compared with each rule. */
export const MOST_RULES = 2_000;

/** A rule apart from what depends on its mock. */
export interface CheckedRule extends Omit<Rule, 'id' | 'addedAt' | 'matched' | 'used' | 'hasFunction'> {
  readonly id?: string | undefined;
}

/** A rule, or JSON text of one, in which numbers keep their digits. */
function checkedRuleText(given: unknown): CheckedRule {
  if (typeof given !== 'string') return checkedRule(given);
  const rule = parseJson(given);
  if (rule === undefined) throw invalidOption('rule', given, 'a rule as JSON');
  return checkedRule(rule, given);
}

/** The rule that the options describe. Throws `MockServerError` with code `invalid_option`. */
function checkedRule(given: unknown, json = ''): CheckedRule {
  if (!isJsonObject(given)) throw invalidOption('rule', given, 'an object');
  const { addedAt: _, matched: __, used: ___, hasFunction, ...options } = given as Partial<Rule>; // may be one that was read
  const { respond, ...checked } = checkedInput(ruleOptions, options, { what: 'a field of a rule' });
  checkEffects(given, checked);
  if (hasFunction === true && typeof respond !== 'function') {
    throw invalidOption('respond', respond, 'the function of the rule, which JSON does not contain');
  }
  const { match, counted = true } = checked;
  const answers = respond === undefined ? {} : { respond: preparedAnswers(respond, memberText(json, 'respond')) };
  return { ...checked, match: withOperation(match, respond), counted, ...answers };
}

/** A rule with `data` is about rates: without an operation and a path, it is for `latest`, and not for `quota`. */
function withOperation(match: RuleMatch = {}, respond: unknown): RuleMatch {
  const hasData = [respond].flat().some((answer) => Object(answer).data !== undefined);
  return hasData && match.operation === undefined && match.path === undefined
    ? { ...match, operation: 'latest' }
    : match;
}

/** What the fields alone cannot say. */
function checkEffects(given: unknown, rule: RuleOptions): void {
  const { match = {}, fail, counted = true } = rule;
  const { respond } = given as RuleOptions;
  const has = { ...rule, respond };
  if (EFFECTS.every((effect) => has[effect] === undefined)) {
    throw invalidOption('rule', given, `at least one of ${EFFECTS.join(', ')}`);
  }
  if (isAdminPath(match.path ?? '')) {
    throw invalidOption(
      'match.path',
      match.path,
      'a path of the emulated API, because the mock serves its pages there',
    );
  }
  if (fail !== undefined) checkFailure(fail);
  checkSeen(match, has);
  if (counted) return;
  if (respond === undefined && fail === undefined) {
    throw invalidOption(
      'counted',
      counted,
      'respond or fail beside it: the network responds or fails instead of the service',
    );
  }
  if (respond === undefined && fail !== undefined && changesResponse(fail)) {
    throw invalidOption('counted', counted, `respond beside it, because fail.kind '${fail.kind}' changes a response`);
  }
}

/** A rule that looks at the response comes too late to change what the service does. */
function checkSeen({ status, code }: RuleMatch, rule: RuleOptions): void {
  const field = status === undefined ? 'code' : 'status';
  const value = status ?? code;
  if (value === undefined) return;
  if (rule.respond === undefined && rule.counted !== false) return;
  const what = rule.respond === undefined ? 'counted: false' : 'respond';
  throw invalidOption(`match.${field}`, value, `no ${field} with ${what}, because the rule looks at the response`);
}

function toRule(rule: RuleRecord): Rule {
  const { matchedByKey: _, ...shown } = savedRuleOf(rule);
  return typeof rule.respond === 'function' ? { ...shown, respond: rule.respond } : shown;
}

/** A rule as a snapshot has it: a copy without its function. */
export function savedRuleOf({ respond, ...rule }: RuleRecord): SavedRule {
  return structuredClone(typeof respond === 'object' ? { ...rule, respond } : rule);
}

/** The rules of a snapshot. Their functions are those of the current rules with their ids; without one, a rule is left out. */
export function restoredRules(saved: readonly SavedRule[], current: readonly RuleRecord[]): readonly RuleRecord[] {
  const answersById = new Map(current.map(({ id, respond }) => [id, respond]));
  return structuredClone(saved).flatMap((rule): RuleRecord[] => {
    if (!rule.hasFunction) return [rule];
    const respond = answersById.get(rule.id);
    return typeof respond === 'function' ? [{ ...rule, respond }] : warnOfLost(rule);
  });
}

/** A snapshot of another process cannot have the function, and a state file must be readable without it. */
function warnOfLost({ id }: SavedRule): RuleRecord[] {
  const text = `The rule ${id} of the snapshot was left out, because its function is not part of JSON; add a rule with this id before you restore the snapshot.`;
  process.emitWarning(text, { type: 'FxratesMockWarning', code: 'FXRATES_LOST_FUNCTION' });
  return [];
}

/** Throws for rules that no request used, such as one with a misspelt pattern. A recording can have unused responses. */
export function expectAllUsed({ state }: Pick<RuleContext, 'state'>): void {
  const unused = state.rules.filter(({ id, used }) => used === 0 && !isRecorded(id));
  if (unused.length === 0) return;
  const lines = unused.map((rule) => `  ${rule.id} matched ${rule.matched} requests: ${show(settingsOf(rule))}`);
  const text = `Expected requests for every rule, but none used ${unused.map(({ id }) => id).join(', ')}.\n${lines.join('\n')}`;
  throw new MockServerError(text, { code: 'unused_rules', status: 422 });
}

/** What a test has set, without the responses. */
function settingsOf(rule: RuleRecord): object {
  const { respond: _, ...fields } = ruleOptions.shape;
  return Object.fromEntries(Object.entries(rule).filter(([name]) => Object.hasOwn(fields, name)));
}
