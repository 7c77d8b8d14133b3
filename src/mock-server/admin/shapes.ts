import * as z from 'zod';
import { PRESET_NAMES, type SwitchDomain } from '../behaviour/switch.ts';
import { SWITCH_NAMES, type SwitchName, switches } from '../behaviour/switches.ts';
import { requestFilter } from '../journal/request-filter.ts';
import { planName } from '../service/service-state.ts';

/** The JSON shapes that several routes use. */

const dateTime = z.iso.datetime();

export const account = z.object({
  id: z.string(),
  email: z.string(),
  plan: planName,
  confirmed: z.boolean(),
  createdAt: dateTime,
});

export const createdKey = z.object({
  id: z.string(),
  key: z.string().describe('The full API key. It is returned only here.'),
  accountId: z.string(),
});

const count = z.number().int();

export const keySummary = z.object({
  id: z.string(),
  accountId: z.string(),
  masked: z.string().describe('Prefix and last four digits of the key.'),
  state: z.enum(['active', 'revoked']),
  createdAt: dateTime,
  revokedAt: dateTime.optional(),
  minute: z.object({
    kind: z.string().describe('The value of the switch `rateWindow`.'),
    limit: count,
    used: count,
    waitMs: z.number().describe('Milliseconds until a request is accepted; 0 if one is accepted now.'),
    fullAt: z.number().describe('Time at which the full limit is available again.'),
    startedAt: z.number().optional().describe('Start of the current window, if it has one.'),
    previous: count.optional().describe('For `sliding-counter`: requests of the previous minute.'),
    perSecond: z.array(count).optional().describe('For `sliding-log`: requests in each of the last 60 seconds.'),
  }),
  month: z.object({ limit: z.number().nullable(), used: count, startedAt: z.number(), resetsAt: z.number() }),
});

export const mail = z.object({
  id: z.string(),
  accountId: z.string(),
  to: z.string(),
  subject: z.string(),
  sentAt: dateTime,
});

export const clockState = z.object({
  mode: z.enum(['real', 'virtual']),
  frozen: z.boolean().describe('Whether the clock is frozen.'),
  now: z.number().describe('Milliseconds since the Unix epoch.'),
  iso: dateTime,
});

/** Parameters, or headers of a response. */
export const valuesByName = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

export const journalEntry = z.object({
  number: z.number().int(),
  space: z.string().optional().describe('Name of the space.'),
  at: z.number().describe('Milliseconds since the Unix epoch, by the clock of the mock.'),
  method: z.string(),
  path: z.string(),
  query: valuesByName.describe('Parameters by name, an array for a repeated one. Keys are masked.'),
  headers: z.record(z.string(), z.string()).describe('Names in lower case. Keys are masked.'),
  body: z.string().optional().describe('The first 16,384 characters.'),
  operation: z.string().optional().describe('Id of the operation at the path.'),
  isUnknownRoute: z.boolean().describe('Whether the path is unknown.'),
  keyId: z.string().optional(),
  keyTransport: z.enum(['bearer', 'header', 'query']).optional(),
  hasKeyInUrl: z.boolean().describe('Whether the URL contains an API key.'),
  status: z.number().int().describe('0 if the connection ended without a response.'),
  code: z.string().optional(),
  why: z.string().describe('Reason for the response, in words.'),
  rate: z.object({ limit: z.number(), used: z.number(), fullAt: z.number() }).optional(),
  quota: z
    .object({ limit: z.number().nullable(), used: z.number(), startedAt: z.number(), resetsAt: z.number() })
    .optional(),
  earlyByMs: z.number().optional().describe('Milliseconds that were left of the last Retry-After.'),
  switches: z.array(z.string()).describe('Switches that the response depends on.'),
  faults: z.array(z.string()).describe('Ids of the faults that struck the request.'),
  stub: z.string().optional().describe('Id of the stub that the request received.'),
  responseHeaders: valuesByName.optional().describe('Names in lower case, an array for `set-cookie`. Keys are masked.'),
  responseBody: z.string().optional().describe('The first 16,384 characters of the response body, as sent.'),
});

export const audit = z.object({
  requests: z.number().int(),
  dropped: z.number().int().describe('Older requests that were dropped; the audit does not cover them.'),
  earlyRetries: z.array(journalEntry).describe('Sent before the last Retry-After had elapsed.'),
  keysInUrls: z.array(journalEntry).describe('Sent with an API key in the URL.'),
  unknownRoutes: z.array(journalEntry).describe('`why` names the nearest path that exists.'),
});

const switchValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const provenance = z.enum(['assumed', 'documented', 'observed']);

/** The values of a switch in the description. The mock itself checks them, with its own error messages. */
function switchValueOf(name: SwitchName): z.ZodType {
  return z.unknown().meta(schemaOfDomain(switches[name].domain));
}

function schemaOfDomain(domain: SwitchDomain): Readonly<Record<string, unknown>> {
  if (domain.kind === 'list') return { enum: domain.values };
  if (domain.kind === 'text') return { type: 'string', pattern: domain.pattern.source };
  return { type: domain.isNullable ? ['integer', 'null'] : 'integer', minimum: domain.min };
}

const ofEachSwitch = (shapeOf: (name: SwitchName) => z.ZodType) =>
  Object.fromEntries(SWITCH_NAMES.map((name) => [name, shapeOf(name).describe(`${switches[name].expected}.`)]));

export const switchDescription = z.object({
  name: z.string(),
  group: z.string().describe('Topic of the switch.'),
  value: switchValue,
  default: switchValue,
  alternatives: z.array(switchValue),
  provenance,
  accepted: z.boolean().describe('Whether the value was set, observed or documented.'),
  notShown: z.string().optional().describe('The undocumented point in openapi.yaml.'),
  why: z.string(),
});

/** Switches to change. */
export const behaviourChanges = z.strictObject({
  preset: z.enum(PRESET_NAMES).optional(),
  about: z.unknown().optional().describe('A note. The mock ignores it.'),
  ...ofEachSwitch((name) =>
    z.union([switchValueOf(name), z.strictObject({ value: switchValueOf(name), provenance })]).optional(),
  ),
});
export const presetOrChanges = z.union([z.enum(PRESET_NAMES), behaviourChanges]);

const object = z.looseObject({});
/** The `data` of `latest`. */
export const latestData = z.union([object, z.array(object)]);
/** Recorded responses of `latest`. */
export const recording = object;

export const problem = z.object({
  error: z.object({ code: z.string(), message: z.string(), field: z.string().optional() }),
});

/** A filter of requests in the query of a URL, where numbers are text. JSON is needed to match query, headers and body. */
export const journalFilter = requestFilter.omit({ query: true, headers: true, body: true }).extend({
  status: z.coerce.number().int().optional().describe('HTTP status, or 0 for no response.'),
  isUnknownRoute: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('Whether neither the service nor a stub has this path.'),
  after: z.coerce.number().int().min(0).optional().describe('Selects only requests with a larger number.'),
});
