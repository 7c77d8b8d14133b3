import { isError, isPromise, isRegExp } from '../../foreign-values.ts';
import { nearestName, nearestNames } from '../../nearest-name.ts';
import { redactKeys } from '../../redactor.ts';

/** Thrown for an invalid option, a failed expectation, and a failed request to the admin API. */
export class MockServerError extends Error {
  /** Name of the class. */
  override readonly name = 'MockServerError';
  /** Stable code for programs, for example `invalid_option`, `not_found`, `unexpected_requests` or `key_limit_reached`. */
  readonly code: string;
  /**
   * HTTP status with which the admin API reports this error, also of a mock in process; `undefined` stands for 400. With code
   * `probe_failed` or `no_mock_server`, the status of the response of that server; `undefined` without one.
   */
  readonly status: number | undefined;
  /** The invalid option or field, for example `rules[2].respond.status`; `undefined` for other errors. */
  readonly field: string | undefined;

  constructor(message: string, { code, status, field, cause }: MockServerErrorDetail) {
    super(redactKeys(message), cause === undefined ? {} : { cause });
    this.code = code;
    this.status = status;
    this.field = field === undefined ? undefined : redactKeys(field);
  }
}

export interface MockServerErrorDetail {
  readonly code: string;
  readonly status?: number | undefined;
  readonly field?: string | undefined;
  readonly cause?: unknown;
}

/** The error for an invalid option: its name, its value, and what was expected. */
export function invalidOption(option: string, value: unknown, expected: string): MockServerError {
  // Those who write JSON have no `undefined`.
  const problem = `is ${value === undefined ? 'missing' : show(value)}; expected ${expected}.`;
  return fieldError(option, problem, { isWhole: WHOLE_VALUES.has(option) });
}

/** What is expected instead of a text, with the next step if the text is the path of a file. */
export function expectedText(text: string, expected: string): string {
  return /^[^{\n]*\.(?:nd)?jsonl?$/i.test(text.trim())
    ? `${expected}: the content of the file, not its path`
    : expected;
}

/** The names of checked values themselves, which are no fields of another value. */
const WHOLE_VALUES: ReadonlySet<string> = new Set(['rule', 'response', 'options', 'setup']);

/** Checks a list before its entries: a longer one would block the process for seconds. */
export function checkLength(field: string, list: unknown, most: number): void {
  if (!Array.isArray(list)) throw invalidOption(field, list, 'an array');
  if (list.length > most) throw fieldError(field, `has ${list.length} entries; expected at most ${most}.`);
}

interface FieldProblem {
  /** What is wrong with the field: the message without its name. */
  readonly problem: string;
  /** Whether the error is about the whole checked value. */
  readonly isWhole: boolean;
}

const fieldProblems = new WeakMap<MockServerError, FieldProblem>();

/** An error about a field, of which `within()` can complete the name. */
export function fieldError(
  field: string,
  problem: string,
  { code = 'invalid_option', status, isWhole = false }: Partial<MockServerErrorDetail> & { isWhole?: boolean } = {},
): MockServerError {
  const error = new MockServerError(`${field} ${problem}`, { code, status, field });
  fieldProblems.set(error, { problem, isWhole });
  return error;
}

/** Runs `act`. An error about a part of an entry then names its place: `rules[2].times is 0; …`. */
export function within<Result>(entry: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof MockServerError)) throw error;
    const { code, status, message, field } = error;
    const about = fieldProblems.get(error);
    if (about === undefined)
      throw new MockServerError(`${entry}: ${message}`, { code, status, field: entry, cause: error });
    throw fieldError(about.isWhole ? entry : `${entry}.${field}`, about.problem, { code, status });
  }
}

/**
 * The item with an id. The error for an unknown id names the known ones, so that users of HTTP and of JavaScript need no
 * other call.
 */
export function withId<Item>(
  kind: 'account' | 'key' | 'rule' | 'space',
  id: string,
  among: ReadonlyMap<string, Item>,
): Item {
  const item = among.get(id);
  if (item !== undefined) return item;
  const missing = kind === 'space' ? 'does not exist or is closed' : 'does not exist';
  const title = `${kind[0]?.toUpperCase()}${kind.slice(1)}`;
  throw notFound(`${title} ${show(id)} ${missing}; ${existing(kind, Array.from(among.keys()))}.`);
}

/** The ids of keys or rules. */
export interface Ids {
  has(id: string): boolean;
  keys(): Iterable<string>;
}

/** Throws `MockServerError` with code `invalid_option` for an unknown id in a field of a pattern. */
export function checkId(kind: 'key' | 'rule', field: string, id: string | undefined, known: Ids): void {
  if (id === undefined || known.has(id)) return;
  const ids = existing(kind, Array.from(known.keys()));
  throw fieldError(field, `is ${show(id)}; expected the id of a ${kind} of this mock; ${ids}.`);
}

function existing(kind: string, ids: readonly string[]): string {
  if (ids.length === 0) return `there are no ${kind}s`;
  if (ids.length > MOST_IDS) return `there are ${ids.length} ${kind}s, such as ${ids.at(-1)}`;
  return ids.length === 1 ? `the only ${kind} is ${ids[0]}` : `the ${kind}s are ${ids.join(', ')}`;
}

const MOST_IDS = 10;

/** The error for something that does not exist. */
export function notFound(message: string): MockServerError {
  return new MockServerError(message, { code: 'not_found', status: 404 });
}

/** The first unused name from `number` on, such as `rule_3`. */
export function freeName(prefix: string, number: number, isTaken: (name: string) => boolean): string {
  let free = number;
  while (isTaken(`${prefix}_${free}`)) free += 1;
  return `${prefix}_${free}`;
}

/** A value as text for a message: shortened, with the digits of API keys removed. */
export function show(value: unknown): string {
  if (typeof value === 'function' || isPromise(value)) return String(asShown(value));
  // JSON has no NaN.
  if (typeof value === 'number') return String(value);
  return shortText(asJson(value));
}

/** A value can have megabytes, and its encoded key is not longer than what is searched. */
function shortText(text: string): string {
  const shown = redactKeys(text.slice(0, MOST_SEARCHED));
  return shown.length > 80 ? `${shown.slice(0, 77)}...` : shown;
}

const MOST_SEARCHED = 2_000;

function asJson(value: unknown): string {
  let visited = 0;
  const visible = (_name: string, part: unknown) => {
    visited += 1;
    if (visited > MOST_SEARCHED) return undefined;
    return typeof part === 'string' ? part.slice(0, MOST_SEARCHED) : asShown(part);
  };
  try {
    return JSON.stringify(value, visible) ?? String(value);
  } catch {
    // Cyclic, or a bigint.
    return `a value of type ${typeof value}`;
  }
}

/** JSON.stringify omits functions, and writes NaN and Infinity as null, a promise and a regular expression as `{}`. */
function asShown(value: unknown): unknown {
  if (typeof value === 'function') return 'a function';
  if (isPromise(value)) return 'a promise';
  const isLost = isRegExp(value) || (typeof value === 'number' && !Number.isFinite(value));
  return isLost ? String(value) : value;
}

/** A thrown value as text. */
export function thrownText(error: unknown): string {
  try {
    return isError(error) ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'a value that has no text'; // such as an object without a prototype
  }
}

interface Unknown {
  /** The kind of name, such as 'a switch'. */
  readonly what: string;
  readonly known: readonly string[];
  /** The place of this name. Default: the nearest known name. */
  readonly meant?: string | undefined;
}

/** The error for an unknown name: the nearest known name, and the known names. `place` ends with a dot. */
export function unknownName(name: string, { what, known, meant }: Unknown, place = ''): MockServerError {
  const nearest = meant ?? nearestName(name, known);
  const hint = nearest === undefined ? '' : `did you mean ${nearest}? `;
  const names = known.length > MOST_NAMES ? nearestNames(name, known, 3) : known;
  const which = names.length < known.length ? `the nearest of ${known.length} names:` : 'valid names:';
  const list = names.length === 0 ? `there are ${known.length} names` : `${which} ${names.join(', ')}`;
  const text = hint === '' ? list : hint + list.charAt(0).toUpperCase() + list.slice(1);
  return fieldError(place + shortText(name), `is not ${what}; ${text}.`);
}

/** A longer list hides the name that was meant. */
const MOST_NAMES = 16;
