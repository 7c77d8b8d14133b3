import { nearestName } from '../nearest-name.ts';
import { redactKeys } from './redact-keys.ts';

/** What the mock server refuses: a wrong option, or what the emulated dashboard refuses (then with its `status`). */
export class MockServerError extends Error {
  override readonly name = 'MockServerError';
  /** For programs: `invalid_option`, `not_found`, `key_limit_reached`, `email_not_confirmed`, … */
  readonly code: string;
  /** The HTTP status the dashboard answers with; `undefined` for a mistake in the test itself. */
  readonly status: number | undefined;

  constructor(message: string, { code, status, cause }: MockServerErrorDetail) {
    super(redactKeys(message), cause === undefined ? {} : { cause });
    this.code = code;
    this.status = status;
  }
}

interface MockServerErrorDetail {
  readonly code: string;
  readonly status?: number;
  readonly cause?: unknown;
}

/** An option that cannot be: names it, shows what came and says what would do. */
export function invalidOption(option: string, value: unknown, expected: string): MockServerError {
  return new MockServerError(`${option} is ${show(value)}; expected ${expected}.`, { code: 'invalid_option' });
}

/** A value short enough for a message, and without the digits of an API key that came to the wrong place. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  const text = redactKeys(asJson(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Cyclic or a bigint: its type says enough.
    return `a value of type ${typeof value}`;
  }
}

/** A name that a test gives to something of its own. */
export function checkedId(option: string, id: unknown): string {
  if (typeof id === 'string' && /^[\w-]{1,64}$/.test(id)) return id;
  throw invalidOption(option, id, 'up to 64 letters, digits, _ and -');
}

interface Unknown {
  /** What the name should have been: 'a switch'. */
  readonly what: string;
  readonly known: readonly string[];
}

/** A name that means nothing here: says so, what was probably meant, and what there is. `place` ends with a dot. */
export function unknownName(name: string, { what, known }: Unknown, place = ''): MockServerError {
  const nearest = nearestName(name, known);
  const there = nearest === undefined ? 'there are' : `did you mean ${nearest}? There are`;
  return new MockServerError(`${place}${name} is not ${what}; ${there} ${known.join(', ')}.`, {
    code: 'invalid_option',
  });
}
