import * as z from 'zod';
import type { BehaviourOptions } from '../../behaviour/behaviour-options.ts';
import { PRESET_NAMES } from '../../behaviour/switch.ts';
import { SWITCH_GROUPS, SWITCH_NAMES, switches } from '../../behaviour/switches.ts';
import { route } from '../route.ts';

const tag = 'behaviour';
const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const provenance = z.enum(['assumed', 'documented', 'observed']);
const describedAs = (shape: z.ZodType) =>
  Object.fromEntries(SWITCH_NAMES.map((name) => [name, shape.describe(`${switches[name].expected}.`)]));
const values = z.strictObject(describedAs(value));

// The mock itself checks the values and names an invalid one.
export const behaviourChanges = z.strictObject({
  preset: z.enum(PRESET_NAMES).optional(),
  about: z.unknown().optional().describe('A note. The mock ignores it.'),
  ...describedAs(z.union([value, z.strictObject({ value, provenance })]).optional()),
});

const changes = behaviourChanges as unknown as z.ZodType<BehaviourOptions, BehaviourOptions>;

const description = z.object({
  name: z.string(),
  group: z.string().describe('Topic of the switch.'),
  value,
  default: value,
  alternatives: z.array(value),
  provenance,
  accepted: z.boolean().describe('Whether the value was set, observed or documented.'),
  notShown: z.string().optional().describe('The undocumented point in openapi.yaml.'),
  why: z.string(),
});

export const behaviourRoutes = [
  route('GET /behaviour', {
    id: 'getBehaviour',
    tag,
    summary: 'Read the value of every switch',
    response: values,
    run: ({ mock }) => mock.behaviour.values,
  }),
  route('PATCH /behaviour', {
    id: 'changeBehaviour',
    tag,
    summary: 'Change switches or apply a preset; if one value is invalid, nothing changes',
    body: changes,
    response: values,
    run({ mock, body }) {
      mock.behaviour.set(body);
      return mock.behaviour.values;
    },
  }),
  route('PUT /behaviour', {
    id: 'replaceBehaviour',
    tag,
    summary: 'Change switches or apply a preset, and reset all other switches',
    body: changes,
    response: values,
    run({ mock, body }) {
      mock.behaviour.set({ preset: 'documented', ...body });
      return mock.behaviour.values;
    },
  }),
  route('GET /behaviour/describe', {
    id: 'describeBehaviour',
    tag,
    summary: 'List the switches with value, default, alternatives, provenance and reason for the default',
    response: z.array(description),
    run: ({ mock }) => mock.behaviour.describe().map((known) => ({ ...known, group: groupOf(known.name) })),
  }),
];

function groupOf(name: string): string {
  const found = Object.entries(SWITCH_GROUPS).find(([, group]) => Object.hasOwn(group, name));
  return found?.[0] ?? 'Other';
}
