import * as z from 'zod';
import { PRESET_NAMES, PROVENANCES } from '../behaviour/switch.ts';
import { SWITCH_NAMES, type SwitchName, switches } from '../behaviour/switches.ts';
import { requestFilter } from '../journal/request-filter.ts';

/** The JSON shapes that several routes use. */

export const clockState = z.object({
  mode: z.enum(['real', 'virtual']),
  frozen: z.boolean().describe('Whether the clock is frozen.'),
  now: z.number().describe('Milliseconds since the Unix epoch.'),
  iso: z.iso.datetime(),
});

const provenance = z.enum(PROVENANCES);

/** A change of a switch in the description. The mock itself checks it, with its own error messages. */
function changeOf(name: SwitchName): z.ZodType {
  const { schema, expected } = switches[name];
  const value = z.unknown().meta(schema);
  return z
    .union([value, z.strictObject({ value, provenance })])
    .optional()
    .describe(`${expected}.`);
}

/** Switches to change. */
export const behaviourChanges = z.strictObject({
  preset: z.enum(PRESET_NAMES).optional(),
  about: z.unknown().optional().describe('A note. The mock ignores it.'),
  ...Object.fromEntries(SWITCH_NAMES.map((name) => [name, changeOf(name)])),
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
