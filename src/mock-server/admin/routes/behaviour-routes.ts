import * as z from 'zod';
import type { BehaviourOptions } from '../../behaviour/behaviour.ts';
import { SWITCH_GROUPS } from '../../behaviour/switches.ts';
import { route } from '../route.ts';
import { behaviourChanges, switchDescription, switchValues } from '../shapes.ts';

const tag = 'behaviour';

const changes = behaviourChanges as unknown as z.ZodType<BehaviourOptions, BehaviourOptions>;

export const behaviourRoutes = [
  route('GET /behaviour', {
    id: 'getBehaviour',
    tag,
    summary: 'Read the value of every switch',
    response: switchValues,
    run: ({ mock }) => mock.behaviour.values,
  }),
  route('PATCH /behaviour', {
    id: 'changeBehaviour',
    tag,
    summary: 'Change switches or apply a preset; if one value is invalid, nothing changes',
    body: changes,
    response: switchValues,
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
    response: switchValues,
    run({ mock, body }) {
      mock.behaviour.set({ preset: 'documented', ...body });
      return mock.behaviour.values;
    },
  }),
  route('GET /behaviour/describe', {
    id: 'describeBehaviour',
    tag,
    summary: 'List the switches with value, default, alternatives, provenance and reason for the default',
    response: z.array(switchDescription),
    run: ({ mock }) => mock.behaviour.describe().map((known) => ({ ...known, group: groupOf(known.name) })),
  }),
];

function groupOf(name: string): string {
  const found = Object.entries(SWITCH_GROUPS).find(([, group]) => Object.hasOwn(group, name));
  return found?.[0] ?? 'Other';
}
