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

// The mock itself checks the values, and names the wrong one.
export const behaviourChanges = z.strictObject({
  preset: z.enum(PRESET_NAMES).optional(),
  about: z.unknown().optional().describe('A note; not read.'),
  ...describedAs(z.union([value, z.strictObject({ value, provenance })]).optional()),
});

const description = z.object({
  name: z.string(),
  group: z.string().describe('What it is about.'),
  value,
  default: value,
  alternatives: z.array(value),
  provenance,
  accepted: z.boolean().describe('Whether somebody chose the value, or it was observed or is documented.'),
  notShown: z.string().optional().describe('What openapi.yaml of the service says is not shown.'),
  why: z.string(),
});

export const behaviourRoutes = [
  route({
    id: 'getBehaviour',
    method: 'GET',
    path: '/behaviour',
    tag,
    summary: 'The value of every switch',
    answer: values,
    run: ({ mock }) => mock.behaviour.values,
  }),
  route({
    id: 'changeBehaviour',
    method: 'PATCH',
    path: '/behaviour',
    tag,
    summary: 'Change some switches, or take a preset: all of what is given or, when something is wrong, nothing',
    body: behaviourChanges,
    answer: values,
    run({ mock, body }) {
      mock.behaviour.set(body as BehaviourOptions);
      return mock.behaviour.values;
    },
  }),
  route({
    id: 'replaceBehaviour',
    method: 'PUT',
    path: '/behaviour',
    tag,
    summary: 'Change some switches, or take a preset, and put all others to their defaults',
    body: behaviourChanges,
    answer: values,
    run({ mock, body }) {
      mock.behaviour.set({ preset: 'documented', ...(body as BehaviourOptions) });
      return mock.behaviour.values;
    },
  }),
  route({
    id: 'describeBehaviour',
    method: 'GET',
    path: '/behaviour/describe',
    tag,
    summary: 'Every switch with its value, default, alternatives, provenance, and why it exists',
    answer: z.array(description),
    run: ({ mock }) => mock.behaviour.describe().map((known) => ({ ...known, group: groupOf(known.name) })),
  }),
  route({
    id: 'usedBehaviour',
    method: 'GET',
    path: '/behaviour/used',
    tag,
    summary: 'The switches that answers in the journal depend on',
    answer: z.array(z.string()),
    run: ({ journal }) => Array.from(new Set(journal.entries.flatMap(({ switches: used }) => used))).sort(),
  }),
];

function groupOf(name: string): string {
  const found = Object.entries(SWITCH_GROUPS).find(([, group]) => Object.hasOwn(group, name));
  return found?.[0] ?? 'Other';
}
