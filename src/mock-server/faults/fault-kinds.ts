import { ADAPTER_NAMES, type AdapterName } from '../adapters/active-adapters.ts';
import type { FaultKind } from './fault.ts';

/** What there is to know of a kind of fault; the admin API is described from it too. */
export interface FaultKindRules {
  readonly settings: Readonly<Record<string, FaultSetting>>;
  /** The adapters behind which a client cannot tell the fault from a real one. */
  readonly adapters: readonly AdapterName[];
  /** What to do where it cannot be had. */
  readonly instead?: string;
  /** Whether it makes sense before the service has decided, when there is no answer yet. */
  readonly canStrikeBefore: boolean;
}

export interface FaultSetting {
  readonly type: 'number' | 'text' | 'headers';
  readonly accepts: (value: unknown) => boolean;
  readonly expected: string;
  readonly isRequired?: boolean;
}

/** msw hands whole answers over: a body that breaks off arrives as a whole one that is too short. */
const WITH_CONNECTION: readonly AdapterName[] = ['fetch', 'undici', 'socket'];
const ANY_TIME = { adapters: ADAPTER_NAMES, canStrikeBefore: true };
const WITH_ANSWER = { adapters: ADAPTER_NAMES, canStrikeBefore: false };

const whole = (least: number, unit: string): FaultSetting => ({
  type: 'number',
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least,
  expected: `a whole number of ${unit} from ${least}`,
});
const required = (setting: FaultSetting): FaultSetting => ({ ...setting, isRequired: true });
const text = (pattern: RegExp, expected: string): FaultSetting => ({
  type: 'text',
  accepts: (value) => typeof value === 'string' && pattern.test(value),
  expected,
});
/** Length and encoding belong to the connection: a wrong one would be another fault. */
const HEADER_NAME = /^(?!content-length$|transfer-encoding$)[\w!#$%&'*+.^`|~-]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const milliseconds: FaultSetting = required({
  type: 'number',
  accepts: (value) => Number.isFinite(value) && (value as number) >= 0,
  expected: 'milliseconds from 0',
});

export const faultKinds: Readonly<Record<FaultKind, FaultKindRules>> = {
  latency: { ...ANY_TIME, settings: { latencyMs: milliseconds } },
  hang: { ...ANY_TIME, settings: {} },
  status: {
    ...ANY_TIME,
    settings: {
      status: required({
        type: 'number',
        accepts: (value) => Number.isInteger(value) && (value as number) >= 200 && (value as number) <= 599,
        expected: 'an HTTP status from 200 to 599',
      }),
      code: text(/^\w{1,64}$/, 'a code such as maintenance'),
      headers: {
        type: 'headers',
        accepts: areHeaders,
        expected: 'an object of header names and values, without content-length and transfer-encoding',
      },
      body: text(/^/, 'text'),
    },
  },
  'network-error': { ...ANY_TIME, settings: {} },
  reset: {
    adapters: WITH_CONNECTION,
    instead: "Kind 'network-error' is what it can do",
    canStrikeBefore: true,
    settings: { afterBytes: whole(0, 'bytes') },
  },
  truncate: {
    adapters: WITH_CONNECTION,
    instead: "Kind 'bad-json' sends half a body in whole",
    canStrikeBefore: false,
    settings: { afterBytes: required(whole(0, 'bytes')) },
  },
  dribble: { ...WITH_ANSWER, settings: { chunkBytes: whole(1, 'bytes'), intervalMs: milliseconds } },
  'malformed-chunk': {
    adapters: ['socket'],
    instead: "Only a real connection has chunks: serve the mock with mock.serve(), or use kind 'bad-json'",
    canStrikeBefore: false,
    settings: { afterBytes: whole(0, 'bytes') },
  },
  garbage: {
    adapters: ['socket'],
    instead: "Only a real connection carries what is no HTTP: serve the mock with mock.serve(), or use 'network-error'",
    canStrikeBefore: true,
    settings: {},
  },
  'bad-json': { ...WITH_ANSWER, settings: {} },
  'content-type': { ...WITH_ANSWER, settings: { contentType: text(HEADER_VALUE, 'the value of a header') } },
  'retry-after': { ...WITH_ANSWER, settings: { retryAfter: text(HEADER_VALUE, 'the value of a header') } },
};

export const FAULT_KINDS = Object.keys(faultKinds) as readonly FaultKind[];

function areHeaders(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(
    ([name, content]) => HEADER_NAME.test(name) && typeof content === 'string' && HEADER_VALUE.test(content),
  );
}
