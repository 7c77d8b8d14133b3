import { ADAPTER_NAMES, adapterNamesOf } from '../adapters/active-adapters.ts';
import { invalidOption, unknownName } from '../mock-server-error.ts';
import type { FaultKind, FaultMatch, FaultOptions, FaultRecord } from './fault.ts';
import { FAULT_KINDS, type FaultSetting, faultKinds } from './fault-kinds.ts';

/** What can be named in a fault. */
export interface KnownNames {
  readonly operations: readonly string[];
  readonly isKey: (keyId: string) => boolean;
}

/** The settings with their defaults. Throws for what cannot be, and names it. */
export function checkedFault(options: FaultOptions, id: string, known: KnownNames): FaultRecord['settings'] {
  if (typeof options !== 'object' || options === null) throw invalidOption('fault', options, 'an object with a kind');
  const { kind } = options;
  if (!FAULT_KINDS.includes(kind)) throw invalidOption('kind', kind, `one of ${FAULT_KINDS.join(', ')}`);
  const given = Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && name !== 'kind'),
  );
  checkSettings(given, kind);
  checkStrikes(options);
  checkMatch(options.match ?? {}, known);
  // A copy, plain like JSON: what the test does with its object later changes nothing.
  const copy = structuredClone(given) as Omit<FaultRecord['settings'], 'kind'>;
  return { kind, ...copy, id, strikes: options.strikes ?? 'after' } as FaultRecord['settings'];
}

function checkSettings(given: Readonly<Record<string, unknown>>, kind: FaultKind): void {
  const { settings } = faultKinds[kind];
  const allowed = new Map(Object.entries({ ...CONDITIONS, ...settings }));
  for (const [name, value] of Object.entries(given)) {
    const setting = allowed.get(name);
    if (setting === undefined)
      throw unknownName(name, { what: `a setting of a ${kind} fault`, known: [...allowed.keys()] });
    if (!setting.accepts(value)) throw invalidOption(name, value, setting.expected);
  }
  for (const [name, { isRequired = false, expected }] of Object.entries(settings)) {
    if (isRequired && given[name] === undefined) throw invalidOption(name, undefined, expected);
  }
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;
const CONDITIONS: Readonly<Record<string, Pick<FaultSetting, 'accepts' | 'expected'>>> = {
  id: {
    accepts: (value) => typeof value === 'string' && /^[\w.-]{1,64}$/.test(value),
    expected: 'letters, digits, _ . and -',
  },
  match: {
    accepts: (value) => typeof value === 'object' && value !== null,
    expected: 'an object',
  },
  nth: {
    accepts: (value) => (Array.isArray(value) ? value.length > 0 && value.every(isCount) : isCount(value)),
    expected: 'the number of a request, or several, counted from 1',
  },
  times: { accepts: isCount, expected: 'a whole number from 1' },
  probability: {
    accepts: (value) => typeof value === 'number' && value >= 0 && value <= 1,
    expected: 'a number from 0 to 1',
  },
  forMs: {
    accepts: (value) => Number.isFinite(value) && (value as number) > 0,
    expected: 'milliseconds above 0',
  },
  strikes: {
    accepts: (value) => value === 'before' || value === 'after',
    expected: "'before' or 'after'",
  },
};

function checkStrikes(options: FaultOptions): void {
  const { kind, strikes, match } = options;
  if (strikes !== 'before') return;
  if (!faultKinds[kind].canStrikeBefore) {
    throw invalidOption('strikes', strikes, `'after': there is no answer yet that ${kind} could change`);
  }
  if (match?.status !== undefined) {
    throw invalidOption('match.status', match.status, "strikes: 'after', when there is a status to match");
  }
  if (kind === 'reset' && options.afterBytes !== undefined) {
    throw invalidOption('afterBytes', options.afterBytes, "strikes: 'after', when there is an answer to cut");
  }
}

function checkMatch(match: FaultMatch, known: KnownNames): void {
  const checks: Readonly<Record<string, readonly [accepts: (value: unknown) => boolean, expected: string]>> = {
    operation: [(value) => known.operations.includes(String(value)), `one of ${known.operations.join(', ')}`],
    keyId: [(value) => known.isKey(String(value)), 'the id of a key of this mock, as mock.createKey() gives it'],
    path: [(value) => typeof value === 'string' && /^[/*]/.test(value), 'a path such as /api/v1/latest or /api/*'],
    method: [(value) => typeof value === 'string' && /^[A-Z]+$/.test(value), 'a method in capitals'],
    status: [(value) => Number.isInteger(value), 'an HTTP status'],
    via: [
      (value) => adapterNamesOf(value).every((adapter) => ADAPTER_NAMES.includes(adapter)),
      `some of ${ADAPTER_NAMES.join(', ')}`,
    ],
  };
  for (const [name, value] of Object.entries(match).filter(([, given]) => given !== undefined)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined)
      throw unknownName(name, { what: 'a field of match', known: Object.keys(checks) }, 'match.');
    const [accepts, expected] = check;
    if (!accepts(value)) throw invalidOption(`match.${name}`, value, expected);
  }
}
