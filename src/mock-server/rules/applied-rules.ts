import type { AdapterName } from '../http/message.ts';
import { atOnce } from '../input/checked-input.ts';
import { within } from '../input/mock-server-error.ts';
import { differences, type MatchedRequest, matchesPattern, nearMisses } from '../matching/request-pattern.ts';
import { chance } from '../service/random.ts';
import { checkAdapterSupport } from './failures.ts';
import { isRecorded } from './mock-rules.ts';
import type { EFFECTS, RuleRecord, RuleState } from './rule-schema.ts';

type EffectName = (typeof EFFECTS)[number];

/** A request in front of the rules. */
export interface RuleCandidate {
  readonly request: MatchedRequest & { readonly at: number };
  readonly adapter: AdapterName;
}

/** What a response has for the rules that look at it. */
interface SeenResponse {
  readonly status: number;
  readonly code: string | undefined;
}

/** A rule that applies to a request, with what its draws depend on. */
export interface AppliedRule {
  readonly rule: RuleRecord;
  /** Id of the key, `''` without a known key, and position of the request among those of the key that the rule matched. */
  readonly key: string;
  readonly position: number;
}

/**
 * The rules for one request. Each rule is asked once whether it applies: when the request arrives, or, with
 * `match.status` or `match.code`, when it has a response. For each effect, the rule added last counts. A rule that does
 * something is used, once for each request, at most for `times` requests. All steps are synchronous, like the limits.
 */
export class AppliedRules {
  readonly #state: Pick<RuleState, 'rules' | 'seed'>;
  /** The rules when the request arrived. The function of one of them can change those of the mock. */
  readonly #rules: readonly RuleRecord[];
  readonly #candidate: RuleCandidate;
  /** Those that apply. */
  readonly #applied = new Map<RuleRecord, AppliedRule>();
  /** How many requests each rule had been used for before this one. */
  readonly #used = new Map<RuleRecord, number>();

  constructor(state: Pick<RuleState, 'rules' | 'seed'>, candidate: RuleCandidate) {
    this.#state = state;
    this.#rules = state.rules;
    this.#candidate = candidate;
    this.#take((rule) => !looksAtResponse(rule));
  }

  /** Ids of the rules that were used, in the order in which they were added. */
  get used(): readonly string[] {
    return this.#rules.filter((rule) => this.#used.has(rule)).map(({ id }) => id);
  }

  /** Also asks the rules that look at the response. */
  addResponse(response: SeenResponse): void {
    this.#take((rule) => looksAtResponse(rule) && sees(rule, response));
  }

  /** The rule that determines an effect; `undefined` if none does. `isMeant` excludes rules. */
  of(effect: EffectName, isMeant: (rule: RuleRecord) => boolean = () => true): AppliedRule | undefined {
    const rule = this.#rules.findLast(
      (one) => one[effect] !== undefined && this.#applied.has(one) && this.#isLeft(one) && isMeant(one),
    );
    return rule && this.#applied.get(rule);
  }

  /** Whether the response has the headers of a GET, and no body. */
  get isHead(): boolean {
    return this.#candidate.request.method === 'HEAD';
  }

  /** The rule that responds to the request. Without a method, a rule responds to GET and HEAD only. */
  get answering(): AppliedRule | undefined {
    const { method } = this.#candidate.request;
    const isRead = method === 'GET' || method === 'HEAD';
    return this.of('respond', ({ match, counted }) => isRead || !counted || match.method !== undefined);
  }

  /** Counts the rule as used for this request. Returns for how many requests it was used before. */
  use({ rule }: AppliedRule): number {
    const before = this.#used.get(rule) ?? rule.used;
    if (!this.#used.has(rule)) rule.used += 1;
    this.#used.set(rule, before);
    return before;
  }

  /** Milliseconds from `at` until the rule ends; infinity for never. 0 if it ended, or was removed, while the request was handled. */
  leftMs({ rule }: AppliedRule, at: number): number {
    return this.#state.rules.includes(rule) ? Math.max(0, endOf(rule) - at) : 0;
  }

  /** A number from 0 to below 1. It depends only on the name, the seed, the rule, and the requests of the same key. */
  draw(name: string, { rule, key, position }: AppliedRule): number {
    return chance(name, this.#state.seed, rule.id, key, position);
  }

  /** How the request differs from rules that nearly match it, a text for each; for an unknown path, also from less similar ones. */
  near(isUnknownRoute: boolean): readonly string[] {
    const { request } = this.#candidate;
    const candidates = this.#rules.filter(
      ({ id, match }) => !isRecorded(id) && !(isUnknownRoute && match.operation !== undefined),
    );
    const compare = (rule: RuleRecord) => {
      const pattern = patternOf(rule, request);
      return { pattern, differences: differences(pattern, request) };
    };
    const close = atOnce(nearMisses(candidates, compare, isUnknownRoute ? Number.POSITIVE_INFINITY : NEAR));
    return close.map(({ candidate: { id }, text }) => `${id} ${text}`);
  }

  /** Adds the rules that apply. Counts the matches. */
  #take(isMeant: (rule: RuleRecord) => boolean): void {
    for (const rule of this.#rules) {
      const found = isMeant(rule) ? this.#appliedOf(rule) : undefined;
      if (found !== undefined) this.#applied.set(rule, found);
    }
  }

  #appliedOf(rule: RuleRecord): AppliedRule | undefined {
    const { request, adapter } = this.#candidate;
    const { id, match, nth, probability = 1 } = rule;
    if (!isActive(rule, request.at)) return undefined;
    // The error of a regular expression that takes too long names the rule.
    if (!within(`${id}.match`, () => matchesPattern(match, request))) return undefined;
    const { keyId: key = '' } = request;
    const position = (rule.matchedByKey[key] ?? 0) + 1;
    rule.matchedByKey[key] = position;
    rule.matched += 1;
    if (nth !== undefined && ![nth].flat().includes(rule.matched)) return undefined;
    if (chance(this.#state.seed, id, key, position) >= probability) return undefined;
    // The adapter was opened after the rule was added, so it could not be checked then.
    checkAdapterSupport(rule, [adapter]);
    return { rule, key, position };
  }

  #isLeft(rule: RuleRecord): boolean {
    const { times } = rule;
    return times === undefined || this.#used.has(rule) || rule.used < times;
  }
}

/** Differences in upper and lower case, and a letter of a long text. Three-letter codes that differ are not near. */
const NEAR = 0.15;

function looksAtResponse({ match }: RuleRecord): boolean {
  return match.status !== undefined || match.code !== undefined;
}

function sees({ match }: RuleRecord, { status, code }: SeenResponse): boolean {
  return (match.status ?? status) === status && (match.code ?? code) === code;
}

/** A rule applies from `afterMs` on, until `forMs` later, exclusive. */
function isActive(rule: RuleRecord, at: number): boolean {
  return at >= rule.addedAt + (rule.afterMs ?? 0) && at < endOf(rule);
}

/** The end of the rule, in milliseconds since the Unix epoch; infinity for none. */
function endOf({ afterMs = 0, forMs = Number.POSITIVE_INFINITY, addedAt }: RuleRecord): number {
  return addedAt + afterMs + forMs;
}

function patternOf({ match, respond }: RuleRecord, { method }: MatchedRequest) {
  const { status: _, code: __, ...pattern } = match;
  const isForReads = respond !== undefined && method !== 'GET' && method !== 'HEAD';
  return isForReads ? { method: 'GET', ...pattern } : pattern;
}
